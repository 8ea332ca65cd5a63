import type { JsonObject } from "../base/canonical-json.ts";
import type { RecordKey } from "../crm/model.ts";
import { numberedItems } from "../crm/order-items.ts";
import { buildAssets } from "../crm/tree.ts";
import { stored } from "../ledger/database/damage.ts";
import type { RecordTable, RecordVersionTable } from "../ledger/records/tables.ts";
import type { AssetNumberTable } from "../resources/order/state/asset-number-rows.ts";
import type { DesiredOrder } from "../engine/model/desired.ts";
import type { StandingParts } from "../resources/order/fold.ts";
import type { PrivateMarker } from "../engine/model/references.ts";
import { sentItems } from "../resources/order/there-already.ts";
import { crmDate } from "../report/crm-date.ts";
import type { CrmStanding, OrderCase } from "../report/reconciliation/case.ts";
import { amendedSides } from "./amended-orders.ts";
import type { StepRow } from "./order-steps.ts";
import type { PlacedOrder } from "./placed-orders.ts";
import { zonesIn } from "./statement/crm-dates.ts";

/** A record with its newest form. */
export type RecordRow = Pick<
  RecordTable,
  "stream" | "namespace" | "id" | "state" | "deferred_code" | "deferred_reason"
> & {
  body: RecordVersionTable["body"] | null;
  date_zones: RecordVersionTable["date_zones"];
  /** 1: an order that moved away, of which something may stand here still. */
  away: number;
};

export function standing(row: RecordRow): CrmStanding {
  return { state: row.state, waits: row.deferred_reason, code: row.deferred_code };
}

export type FixedNumber = Pick<AssetNumberTable, "wire_number" | "unit" | "namespace" | "order_id" | "instance_id">;
/** Numbers fixed to the orders of a customer, by order and instance, in the order of their units. */
export type FixedNumbers = ReadonlyMap<string, readonly FixedNumber[]>;

export function sentNumbers(rows: readonly FixedNumber[] = []): string[] {
  return rows.flatMap((row) => row.wire_number ?? []);
}

const nothing = { products: [], packages: [] };

/** One order of a customer: what is wanted, what it was placed with, and what was sent of it. */
export function orderCaseOf(
  row: RecordRow,
  customer: RecordKey,
  {
    known,
    steps: amended,
    numbers,
  }: {
    known: PlacedOrder | undefined;
    steps: readonly StepRow[] | undefined;
    numbers: FixedNumbers;
  },
): OrderCase {
  const body = stored<DesiredOrder>(row.body ?? "");
  const items = (version: DesiredOrder): ReturnType<typeof numberedItems> =>
    numberedItems(buildAssets<PrivateMarker>(version.instances).assets, (asset, product) => {
      const fixed = sentNumbers(numbers.get(JSON.stringify([row.namespace, row.id, asset])));
      return fixed.length > 0 || product === undefined ? fixed : (known?.shownNumbers.get(product) ?? []);
    });
  const wanted = items(body);
  if (amended !== undefined && known !== undefined && typeof known.body === "string") {
    const of = {
      key: { namespace: row.namespace, id: row.id },
      customer,
      channelOrderId: known.placed.channelOrderId,
      form: stored<DesiredOrder>(known.body),
      payload: known.placedFor === undefined ? known.payload : null,
    };
    const { placedFor } = known;
    const parts = { numbers: fixedOf(row, numbers), licenceOrders: [], placedFor };
    const sides = amendedSides(of, amended, parts, wanted);
    return { ...orderCase(row, body, known, amended), ...sides, units: unitsOf(parts.numbers, sides.units) };
  }
  const isPlacedHere = known?.placedFor === undefined;
  const placed = isPlacedHere && typeof known?.body === "string" ? items(stored<DesiredOrder>(known.body)) : nothing;
  const sent =
    isPlacedHere && typeof known?.payload === "string"
      ? sentItems(stored<JsonObject>(known.payload), (unit) => numberOfUnit(numbers, unit))
      : nothing;
  return {
    ...orderCase(row, body, known),
    units: unitsOf(fixedOf(row, numbers)),
    products: { wanted: wanted.products, placed: placed.products, sent: sent.products },
    packages: { wanted: wanted.packages, placed: placed.packages, sent: sent.packages },
  };
}

function orderCase(
  row: RecordRow,
  body: DesiredOrder,
  known: PlacedOrder | undefined,
  steps: readonly Pick<StepRow, "channel_order_id">[] = [],
): Omit<OrderCase, "products" | "packages" | "units"> {
  const now = crmDate(body.placedAt, zonesIn(row.date_zones), "placedAt");
  const form = typeof known?.body === "string" ? stored<DesiredOrder>(known.body) : body;
  const placed = crmDate(form.placedAt, zonesIn(known?.zones ?? null), "placedAt");
  return {
    key: { namespace: row.namespace, id: row.id },
    crm: standing(row),
    // Nobody wants here what moved away.
    cancelled: body.cancelled || row.away === 1,
    isAway: row.away === 1 && !body.cancelled,
    // An order is of the date that it was placed with; the same date may have been read with its zone since.
    crmDate: placed?.at === now?.at ? now : placed,
    placed: known?.placed ?? null,
    numbers: [
      ...(known === undefined ? [] : [known.placed.channelOrderId]),
      ...steps.flatMap((step) => step.channel_order_id ?? []),
    ],
  };
}

/** The numbers of one order. */
function fixedOf({ namespace, id }: RecordKey, numbers: FixedNumbers): StandingParts["numbers"] {
  return [...numbers.values()]
    .flat()
    .flatMap((row) =>
      row.namespace === namespace && row.order_id === id && row.wire_number !== null
        ? [{ number: row.wire_number, namespace, orderId: id, instanceId: row.instance_id ?? "", unit: row.unit ?? 0 }]
        : [],
    );
}

/** Which unit each number is of: as it is fixed, and as what stands has it. */
function unitsOf(fixed: StandingParts["numbers"], standing?: OrderCase["units"]): Map<string, number> {
  return new Map([...fixed.map(({ number, unit }) => [number, unit] as const), ...(standing ?? [])]);
}

/** The number of one unit of an asset, which is named by its order, its instance and its position there. */
function numberOfUnit(numbers: FixedNumbers, unit: string): string | undefined {
  const [namespace, order, instance, position] = stored<unknown[]>(unit);
  const fixed = numbers.get(JSON.stringify([String(namespace), String(order), String(instance)]));
  return fixed?.find((item) => item.unit === position)?.wire_number ?? undefined;
}
