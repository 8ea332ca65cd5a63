import { z } from "zod";
import { messageOf } from "../base/errors.ts";
import { identifierOf } from "./answers.ts";
import { jsonType } from "./exchange.ts";
import type { Reply } from "./exchange.ts";
import { faultRuleSchema } from "./faults.ts";
import type { Faults } from "./faults.ts";
import { handEditSchema, NotThere } from "./hand-edits.ts";
import type { HandEditInput, HandResult } from "./hand-edits.ts";
import { contradictedRows } from "./sandbox-settings.ts";
import type { ContradictedRow } from "./sandbox-settings.ts";
import type { Store } from "./store.ts";

/** What the control paths can do. */
export interface Controls {
  faults: Faults;
  observation: Observation;
  identity: () => string;
  counts: () => unknown;
  reset: () => void;
  expireTokens: () => void;
  dropOrders: (channelOrderId: string) => number;
  hand: (edit: HandEditInput) => HandResult;
  contradict: (rows: readonly ContradictedRow[]) => void;
  /** Takes no connections for `ms`, from the end of this reply on. */
  refuseFor: (ms: number) => void;
}

export const controlPrefix = "/_sandbox/";

/**
 * Answers a request below `/_sandbox/`, which is ours and no part of the services: GET state, identity, counts,
 * duplicates, e5, faults, health; POST faults, reset, expire-tokens, drop-orders, hand, contradict, refuse; DELETE
 * faults.
 */
export function controlReply(
  controls: Controls,
  method: string,
  path: string,
  query: URLSearchParams,
  text: string,
): Reply {
  const name = path.slice(controlPrefix.length);
  const { faults, observation } = controls;
  try {
    switch (`${method} ${name}`) {
      case "GET health":
        return reply(200, { ok: true });
      case "GET state":
        return reply(200, observation.state());
      case "GET identity":
        return reply(200, { identity: controls.identity() });
      case "GET counts":
        return reply(200, controls.counts());
      case "GET duplicates":
        return reply(200, observation.duplicates());
      case "GET e5":
        return reply(200, { bodies: observation.batches(query.get("channelOrderId") ?? "") });
      case "GET faults":
        return reply(200, { faults: faults.list() });
      case "DELETE faults":
        faults.clear(query.get("id") ?? undefined);
        return reply(200, { faults: faults.list() });
      default:
        return (
          (method === "POST" ? posted(controls, name, text) : undefined) ??
          reply(404, { error: `no ${method} ${path}` })
        );
    }
  } catch (error) {
    if (error instanceof z.ZodError) return reply(400, { error: z.prettifyError(error) });
    if (error instanceof NotThere) return reply(404, { error: error.message });
    if (error instanceof SyntaxError) return reply(400, { error: messageOf(error) });
    throw error;
  }
}

function posted(controls: Controls, name: string, text: string): Reply | undefined {
  switch (name) {
    case "faults":
      return reply(200, { id: controls.faults.add(faultRuleSchema.parse(JSON.parse(text))) });
    case "reset":
      controls.reset();
      return reply(200, { ok: true });
    case "expire-tokens":
      controls.expireTokens();
      return reply(200, { ok: true });
    case "drop-orders": {
      const { channelOrderId } = z.strictObject({ channelOrderId: z.string() }).parse(JSON.parse(text));
      return reply(200, { dropped: controls.dropOrders(channelOrderId) });
    }
    case "hand":
      return reply(200, controls.hand(handEditSchema.parse(JSON.parse(text))));
    case "contradict": {
      const { rows } = z.strictObject({ rows: z.array(z.enum(contradictedRows)) }).parse(JSON.parse(text));
      controls.contradict(rows);
      return reply(200, { rows });
    }
    case "refuse": {
      const { ms } = z.strictObject({ ms: z.int().min(1) }).parse(JSON.parse(text));
      controls.refuseFor(ms);
      return reply(200, { ok: true });
    }
    default:
      return undefined;
  }
}

function reply(status: number, body: unknown): Reply {
  return { status, type: jsonType, body: JSON.stringify(body) };
}

/** What a channel order number stands for: how often it was sent, and what is there of it now. */
interface OrderState {
  /** Accepted E5 calls. */
  calls: number;
  licenseOrders: number;
  waiting: number;
  failed: number;
  assets: number;
  products: number;
  merchandises: number;
}

/** What the deletions of a channel order number took. */
interface DeletionState {
  /** Accepted E5 calls. */
  calls: number;
  licenseOrders: number;
  waiting: number;
  failed: number;
  /** Removed by them. */
  assets: number;
  products: number;
}

/** What the two services hold now. */
export interface SandboxState {
  enterprises: number;
  customers: number;
  licenseOrders: number;
  assets: number;
  products: number;
  merchandises: number;
  /** Live staff, with the two that each E2 makes. */
  staff: number;
  /** Live staff that M1 added. */
  addedStaff: number;
  assignments: number;
  lentAssets: number;
  lockedAssets: number;
  shellNumbers: number;
  /** Effects that are still to come: late calls and asynchronous orders. */
  deferred: number;
  /** What was bought (new_buy), by channel order number. */
  orders: Record<string, OrderState>;
  /** What was deleted (delete_asset, delete_product), by channel order number. */
  deletions: Record<string, DeletionState>;
}

/** What is there more than once. Empty lists when every intent had one effect. */
export interface Duplicates {
  enterprises: { channelCode: string; channelCustomerId: string; count: number }[];
  /** Purchases and deletions alike: a channel order number is good for one accepted call. */
  orders: { channelOrderId: string; calls: number }[];
  products: { channelOrderId: string; assetNum: string; crmProductId: string; count: number }[];
  staff: { enterpriseGlobalId: string; userName: string; count: number }[];
}

export interface Observation {
  state: () => SandboxState;
  duplicates: () => Duplicates;
  /** Every accepted E5 body of a channel order number, as it came, the oldest first. */
  batches: (channelOrderId: string) => { at: number; body: string }[];
  /** How often each operation had its effect. */
  effects: () => Record<string, number>;
}

/**
 * Reads the state for tests and people; the two services never do.
 * In one piece: the statements are prepared once, and the calls below share them.
 */
export function createObservation(store: Store): Observation {
  const totals = store.prepare<[], Omit<SandboxState, "orders" | "deletions">>(`
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
  const orders = store.prepare<[], OrderState & { channelOrderId: string }>(`
    SELECT channel_order_id AS channelOrderId, COUNT(DISTINCT batch_id) AS calls, COUNT(*) AS licenseOrders,
      SUM(state = 'waiting') AS waiting, SUM(state = 'failed') AS failed,
      SUM((SELECT COUNT(*) FROM assets WHERE license_order_id = license_orders.id AND removed_by IS NULL)) AS assets,
      SUM((SELECT COUNT(*) FROM products WHERE license_order_id = license_orders.id
      AND removed_by IS NULL)) AS products,
      SUM((SELECT COUNT(*) FROM merchandises WHERE license_order_id = license_orders.id
      AND removed_by IS NULL)) AS merchandises
    FROM license_orders WHERE order_type = 'new_buy' GROUP BY channel_order_id ORDER BY channel_order_id`);
  const deletions = store.prepare<[], DeletionState & { channelOrderId: string }>(`
    SELECT channel_order_id AS channelOrderId, COUNT(DISTINCT batch_id) AS calls, COUNT(*) AS licenseOrders,
      SUM(state = 'waiting') AS waiting, SUM(state = 'failed') AS failed,
      SUM((SELECT COUNT(*) FROM assets WHERE removed_by = license_orders.id)) AS assets,
      SUM((SELECT COUNT(*) FROM products WHERE removed_by = license_orders.id)) AS products
    FROM license_orders WHERE order_type <> 'new_buy' GROUP BY channel_order_id ORDER BY channel_order_id`);
  const twiceEnterprises = store.prepare<[], Duplicates["enterprises"][number]>(`
    SELECT channel_code AS channelCode, channel_customer_id AS channelCustomerId, COUNT(DISTINCT enterprise_id) AS count
    FROM customers GROUP BY channel_code, channel_customer_id HAVING COUNT(DISTINCT enterprise_id) > 1`);
  const twiceOrders = store.prepare<[], Duplicates["orders"][number]>(`
    SELECT channel_order_id AS channelOrderId, COUNT(DISTINCT batch_id) AS calls FROM license_orders
    GROUP BY channel_order_id HAVING COUNT(DISTINCT batch_id) > 1`);
  const twiceProducts = store.prepare<[], Duplicates["products"][number]>(`
    SELECT channel_order_id AS channelOrderId, asset_number AS assetNum, crm_product_id AS crmProductId,
    COUNT(*) AS count
    FROM products JOIN license_orders ON license_orders.id = products.license_order_id
    JOIN assets ON assets.id = asset_id
    WHERE products.removed_by IS NULL
    GROUP BY channel_order_id, asset_number, crm_product_id, merchandise_id IS NULL HAVING COUNT(*) > 1`);
  const twiceStaff = store.prepare<[], { enterprise_id: number; userName: string; count: number }>(`
    SELECT enterprise_id, lower(user_name) AS userName, COUNT(*) AS count FROM staff WHERE deleted = 0
    GROUP BY enterprise_id, lower(user_name) HAVING COUNT(*) > 1`);
  const batchesOf = store.prepare<[string], { at: number; body: string }>(
    "SELECT created_at AS at, body FROM batches WHERE channel_order_id = ? ORDER BY id",
  );
  const effects = store.prepare<[], { operation: string; count: number }>(
    "SELECT operation, count FROM effects ORDER BY operation",
  );

  return {
    state() {
      const counted = totals.get();
      if (counted === undefined) throw new Error("the totals query gave no row");
      const byOrder = orders.all().map(({ channelOrderId, ...state }) => [channelOrderId, state] as const);
      const byDeletion = deletions.all().map(({ channelOrderId, ...state }) => [channelOrderId, state] as const);
      return { ...counted, orders: Object.fromEntries(byOrder), deletions: Object.fromEntries(byDeletion) };
    },
    duplicates: () => ({
      enterprises: twiceEnterprises.all(),
      orders: twiceOrders.all(),
      products: twiceProducts.all(),
      staff: twiceStaff.all().map(({ enterprise_id, userName, count }) => ({
        enterpriseGlobalId: identifierOf("enterprise", enterprise_id),
        userName,
        count,
      })),
    }),
    batches: (channelOrderId) => batchesOf.all(channelOrderId),
    effects: () => Object.fromEntries(effects.all().map((row) => [row.operation, row.count])),
  };
}
