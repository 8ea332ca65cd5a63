import { z } from "zod";
import { messageOf } from "../base/errors.ts";
import { identifierOf } from "./answers.ts";
import { jsonType, type Reply } from "./exchange.ts";
import { faultRuleSchema, type Faults, type SandboxCounts } from "./faults.ts";
import { handEditSchema, NotThere, type HandEditInput, type HandResult } from "./hand-edits.ts";
import { contradictedRows, type ContradictedRow } from "./contradictions.ts";
import type { Store } from "./store.ts";

export interface Controls {
  readonly faults: Faults;
  readonly observation: Observation;
  /** Random, stored with the state, new after a reset. Tells sandboxes apart. */
  readonly identity: () => string;
  readonly counts: () => SandboxCounts;
  readonly reset: () => void;
  readonly expireTokens: () => void;
  /** Removes the effects of the orders, as if somebody did it on the platform. Returns the number of orders. */
  readonly dropOrders: (channelOrderId: string) => number;
  /** Throws NotThere. It is no call and no effect. */
  readonly hand: (edit: HandEditInput) => HandResult;
  readonly contradict: (rows: readonly ContradictedRow[]) => void;
  /** Accepts no connections for `ms`, from the end of this reply on. */
  readonly refuseFor: (ms: number) => void;
}

export const controlPrefix = "/_sandbox/";

const done = { ok: true };
const orderSchema = z.strictObject({ channelOrderId: z.string() });
const rowsSchema = z.strictObject({ rows: z.array(z.enum(contradictedRows)) });
const pauseSchema = z.strictObject({ ms: z.int().min(1) });

const paths: Record<string, (controls: Controls, given: () => unknown, query: URLSearchParams) => unknown> = {
  "GET health": () => done,
  "GET state": ({ observation }) => observation.state(),
  "GET identity": ({ identity }) => ({ identity: identity() }),
  "GET counts": ({ counts }) => counts(),
  "GET duplicates": ({ observation }) => observation.duplicates(),
  "GET e5": ({ observation }, _, query) => ({ bodies: observation.batches(query.get("channelOrderId") ?? "") }),
  "GET faults": ({ faults }) => ({ faults: faults.list() }),
  "DELETE faults"({ faults }, _, query) {
    faults.clear(query.get("id") ?? undefined);
    return { faults: faults.list() };
  },
  "POST faults": ({ faults }, given) => ({ id: faults.add(faultRuleSchema.parse(given())) }),
  "POST reset"({ reset }) {
    reset();
    return done;
  },
  "POST expire-tokens"({ expireTokens }) {
    expireTokens();
    return done;
  },
  "POST drop-orders": ({ dropOrders }, given) => ({ dropped: dropOrders(orderSchema.parse(given()).channelOrderId) }),
  "POST hand": ({ hand }, given) => hand(handEditSchema.parse(given())),
  "POST contradict"({ contradict }, given) {
    const { rows } = rowsSchema.parse(given());
    contradict(rows);
    return { rows };
  },
  "POST refuse"({ refuseFor }, given) {
    refuseFor(pauseSchema.parse(given()).ms);
    return done;
  },
};

export function controlReply(
  controls: Controls,
  method: string,
  path: string,
  query: URLSearchParams,
  text: string,
): Reply {
  const name = `${method} ${path.slice(controlPrefix.length)}`;
  const answer = Object.hasOwn(paths, name) ? paths[name] : undefined;
  if (answer === undefined) return reply(404, { error: `no ${method} ${path}` });
  try {
    return reply(
      200,
      answer(controls, () => JSON.parse(text), query),
    );
  } catch (error) {
    if (error instanceof z.ZodError) return reply(400, { error: z.prettifyError(error) });
    if (error instanceof NotThere) return reply(404, { error: error.message });
    if (error instanceof SyntaxError) return reply(400, { error: messageOf(error) });
    throw error;
  }
}

function reply(status: number, body: unknown): Reply {
  return { status, type: jsonType, body: JSON.stringify(body) };
}

interface OrderState {
  calls: number;
  licenseOrders: number;
  waiting: number;
  failed: number;
  assets: number;
  products: number;
  merchandises: number;
}

type DeletionState = Omit<OrderState, "merchandises">;

export interface SandboxState {
  enterprises: number;
  customers: number;
  licenseOrders: number;
  assets: number;
  products: number;
  merchandises: number;
  staff: number;
  addedStaff: number;
  assignments: number;
  lentAssets: number;
  lockedAssets: number;
  shellNumbers: number;
  /** Effects still to come: late calls and asynchronous orders. */
  deferred: number;
  orders: Record<string, OrderState>;
  deletions: Record<string, DeletionState>;
}

/** Empty lists if every intent had exactly one effect. */
export interface Duplicates {
  enterprises: { channelCode: string; channelCustomerId: string; count: number }[];
  /** Purchases and deletions: one accepted call per channel order number. */
  orders: { channelOrderId: string; calls: number }[];
  products: { channelOrderId: string; assetNum: string; crmProductId: string; count: number }[];
  staff: { enterpriseGlobalId: string; userName: string; count: number }[];
}

export interface Observation {
  readonly state: () => SandboxState;
  readonly duplicates: () => Duplicates;
  /** Accepted E5 bodies of a channel order number, oldest first. */
  readonly batches: (channelOrderId: string) => { at: number; body: string }[];
  readonly effects: () => Record<string, number>;
}

export function createObservation(store: Store): Observation {
  return {
    state() {
      const counted = store.get<Omit<SandboxState, "orders" | "deletions">>(`
    SELECT (SELECT COUNT(*) FROM enterprises) AS enterprises,
      (SELECT COUNT(*) FROM customers) AS customers,
      (SELECT COUNT(*) FROM license_orders) AS licenseOrders,
      (SELECT COUNT(*) FROM assets WHERE removed_by IS NULL) AS assets,
      (SELECT COUNT(*) FROM products WHERE removed_by IS NULL) AS products,
      (SELECT COUNT(*) FROM merchandises WHERE removed_by IS NULL) AS merchandises,
      (SELECT COUNT(*) FROM staff WHERE deleted = 0) AS staff,
      (SELECT COUNT(*) FROM staff WHERE deleted = 0 AND role = 'added') AS addedStaff,
      (SELECT COUNT(*) FROM assets WHERE removed_by IS NULL AND holder_id IS NOT NULL) AS assignments,
      (SELECT COUNT(*) FROM assets WHERE removed_by IS NULL AND lent_to_lock_id IS NOT NULL) AS lentAssets,
      (SELECT COUNT(*) FROM assets WHERE removed_by IS NULL AND locked = 1) AS lockedAssets,
      (SELECT COALESCE(MAX(CAST(value AS INTEGER)), 0) FROM meta WHERE key = 'shell-numbers') AS shellNumbers,
      (SELECT COUNT(*) FROM deferred) AS deferred`);
      if (counted === undefined) throw new Error("the totals query gave no row");
      const orders = store.all<OrderState & { channelOrderId: string }>(`
    SELECT channel_order_id AS channelOrderId, COUNT(DISTINCT batch_id) AS calls, COUNT(*) AS licenseOrders,
      SUM(state = 'waiting') AS waiting, SUM(state = 'failed') AS failed,
      SUM((SELECT COUNT(*) FROM assets WHERE license_order_id = license_orders.id AND removed_by IS NULL)) AS assets,
      SUM((SELECT COUNT(*) FROM products WHERE license_order_id = license_orders.id
      AND removed_by IS NULL)) AS products,
      SUM((SELECT COUNT(*) FROM merchandises WHERE license_order_id = license_orders.id
      AND removed_by IS NULL)) AS merchandises
    FROM license_orders WHERE order_type = 'new_buy' GROUP BY channel_order_id ORDER BY channel_order_id`);
      const deletions = store.all<DeletionState & { channelOrderId: string }>(`
    SELECT channel_order_id AS channelOrderId, COUNT(DISTINCT batch_id) AS calls, COUNT(*) AS licenseOrders,
      SUM(state = 'waiting') AS waiting, SUM(state = 'failed') AS failed,
      SUM((SELECT COUNT(*) FROM assets WHERE removed_by = license_orders.id)) AS assets,
      SUM((SELECT COUNT(*) FROM products WHERE removed_by = license_orders.id)) AS products
    FROM license_orders WHERE order_type <> 'new_buy' GROUP BY channel_order_id ORDER BY channel_order_id`);
      const byOrder = orders.map(({ channelOrderId, ...state }) => [channelOrderId, state] as const);
      const byDeletion = deletions.map(({ channelOrderId, ...state }) => [channelOrderId, state] as const);
      return { ...counted, orders: Object.fromEntries(byOrder), deletions: Object.fromEntries(byDeletion) };
    },
    duplicates: () => ({
      enterprises: store.all<Duplicates["enterprises"][number]>(`
    SELECT channel_code AS channelCode, channel_customer_id AS channelCustomerId, COUNT(DISTINCT enterprise_id) AS count
    FROM customers GROUP BY channel_code, channel_customer_id HAVING COUNT(DISTINCT enterprise_id) > 1`),
      orders: store.all<Duplicates["orders"][number]>(`
    SELECT channel_order_id AS channelOrderId, COUNT(DISTINCT batch_id) AS calls FROM license_orders
    GROUP BY channel_order_id HAVING COUNT(DISTINCT batch_id) > 1`),
      products: store.all<Duplicates["products"][number]>(`
    SELECT channel_order_id AS channelOrderId, asset_number AS assetNum, crm_product_id AS crmProductId,
    COUNT(*) AS count
    FROM products JOIN license_orders ON license_orders.id = products.license_order_id
    JOIN assets ON assets.id = asset_id
    WHERE products.removed_by IS NULL
    GROUP BY channel_order_id, asset_number, crm_product_id, merchandise_id IS NULL HAVING COUNT(*) > 1`),
      staff: store
        .all<{ enterprise_id: number; userName: string; count: number }>(`
    SELECT enterprise_id, lower(user_name) AS userName, COUNT(*) AS count FROM staff WHERE deleted = 0
    GROUP BY enterprise_id, lower(user_name) HAVING COUNT(*) > 1`)
        .map(({ enterprise_id, userName, count }) => ({
          enterpriseGlobalId: identifierOf("enterprise", enterprise_id),
          userName,
          count,
        })),
    }),
    batches: (channelOrderId) =>
      store.all<{ at: number; body: string }>(
        "SELECT created_at AS at, body FROM batches WHERE channel_order_id = ? ORDER BY id",
        channelOrderId,
      ),
    effects() {
      const rows = store.all<{ operation: string; count: number }>(
        "SELECT operation, count FROM effects ORDER BY operation",
      );
      return Object.fromEntries(rows.map((row) => [row.operation, row.count]));
    },
  };
}
