import type { RecordKey, Package } from "../crm/model.ts";
import { numberedItems } from "../crm/order-items.ts";
import { buildAssets } from "../crm/tree.ts";
import { stored } from "../ledger/database/damage.ts";
import type { RecordTable, RecordVersionTable } from "../ledger/records/tables.ts";
import type { AssetNumberTable } from "../resources/order/state/asset-number-rows.ts";
import type { KeptOrder } from "../engine/model/desired.ts";
import { type StandingParts, standingOf } from "../resources/order/fold.ts";
import type { Commitment } from "../engine/model/references.ts";
import { sentItems, type OrderShapes, type SentPackage } from "../resources/order/shapes.ts";
import { crmDate } from "../report/crm-date.ts";
import type { CrmStanding, OrderCase, PlacedItem, Purchase, SentItem } from "../report/reconciliation/case.ts";
import type { StepRow, PlacedForm } from "./placed-orders.ts";
import { zonesIn } from "./statement/filters.ts";
import { stepOf } from "../resources/order/state/order-step-rows.ts";
import { productsUnder, type OrderStanding } from "../resources/order/model.ts";
import type { PlacedOrder } from "../resources/order/state/changes.ts";

export type RecordRow = Pick<
  RecordTable,
  "stream" | "namespace" | "id" | "state" | "deferred_code" | "deferred_reason"
> & {
  body: RecordVersionTable["body"] | null;
  date_zones: RecordVersionTable["date_zones"];
  /** 1: an order that left this customer and may still exist here in part. */
  away: number;
};

export function standing(row: RecordRow): CrmStanding {
  return { state: row.state, waits: row.deferred_reason, code: row.deferred_code };
}

export type FixedNumber = Pick<AssetNumberTable, "wire_number" | "unit" | "namespace" | "order_id" | "instance_id">;
export type FixedNumbers = ReadonlyMap<string, readonly FixedNumber[]>;

export function sentNumbers(rows: readonly FixedNumber[] = []): string[] {
  return rows.flatMap((row) => row.wire_number ?? []);
}

const nothing = { products: [], packages: [] };

/** One order: the present form, the placed form, and the sent items. */
export function orderCaseOf(
  row: RecordRow,
  customer: RecordKey,
  {
    known,
    steps: amended,
    numbers,
  }: {
    known: PlacedForm | undefined;
    steps: readonly StepRow[] | undefined;
    numbers: FixedNumbers;
  },
): OrderCase {
  const body = stored<KeptOrder>(row.body ?? "");
  const items = (version: KeptOrder): ReturnType<typeof numberedItems> =>
    numberedItems(buildAssets<Commitment>(version.instances).assets, (asset, product) => {
      const fixed = sentNumbers(numbers.get(JSON.stringify([row.namespace, row.id, asset])));
      return fixed.length > 0 || product === undefined ? fixed : (known?.shownNumbers.get(product) ?? []);
    });
  const wanted = items(body);
  if (amended !== undefined && known !== undefined && typeof known.body === "string") {
    const of = {
      key: { namespace: row.namespace, id: row.id },
      customer,
      channelOrderId: known.placed.channelOrderId,
      form: stored<KeptOrder>(known.body),
      payload: known.placedFor === undefined ? known.payload : null,
    };
    const { placedFor } = known;
    const parts = { numbers: fixedOf(row, numbers), licenceOrders: [], placedFor };
    const sides = amendedSides(of, amended, parts, wanted);
    return { ...orderCase(row, body, known, amended), ...sides, units: unitsOf(parts.numbers, sides.units) };
  }
  const isPlacedHere = known?.placedFor === undefined;
  const placed = isPlacedHere && typeof known?.body === "string" ? items(stored<KeptOrder>(known.body)) : nothing;
  const sent =
    isPlacedHere && typeof known?.payload === "string"
      ? sentItems(stored<OrderShapes["payload"]>(known.payload), (unit) => numberOfUnit(numbers, unit))
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
  body: KeptOrder,
  known: PlacedForm | undefined,
  steps: readonly Pick<StepRow, "channel_order_id">[] = [],
): Omit<OrderCase, "products" | "packages" | "units"> {
  const now = crmDate(body.placedAt, zonesIn(row.date_zones), "placedAt");
  const form = typeof known?.body === "string" ? stored<KeptOrder>(known.body) : body;
  const placed = crmDate(form.placedAt, zonesIn(known?.zones ?? null), "placedAt");
  return {
    key: { namespace: row.namespace, id: row.id },
    crm: standing(row),
    // The customer no longer wants an order that left.
    cancelled: body.cancelled || row.away === 1,
    isAway: row.away === 1 && !body.cancelled,
    // The order keeps the date of its placing. A later read may have added the zone to the same date.
    crmDate: placed?.at === now?.at ? now : placed,
    placed: known?.placed ?? null,
    numbers: [
      ...(known === undefined ? [] : [known.placed.channelOrderId]),
      ...steps.flatMap((step) => step.channel_order_id ?? []),
    ],
  };
}

function fixedOf({ namespace, id }: RecordKey, numbers: FixedNumbers): StandingParts["numbers"] {
  return [...numbers.values()]
    .flat()
    .flatMap((row) =>
      row.namespace === namespace && row.order_id === id && row.wire_number !== null
        ? [{ number: row.wire_number, namespace, orderId: id, instanceId: row.instance_id ?? "", unit: row.unit ?? 0 }]
        : [],
    );
}

function unitsOf(fixed: StandingParts["numbers"], standing?: OrderCase["units"]): Map<string, number> {
  return new Map([...fixed.map(({ number, unit }) => [number, unit] as const), ...(standing ?? [])]);
}

function numberOfUnit(numbers: FixedNumbers, unit: string): string | undefined {
  const [namespace, order, instance, position] = stored<unknown[]>(unit);
  const fixed = numbers.get(JSON.stringify([String(namespace), String(order), String(instance)]));
  return fixed?.find((item) => item.unit === position)?.wire_number ?? undefined;
}

type Sides = Pick<OrderCase, "products" | "packages" | "units" | "isOver">;

/** The existing part of an amended order: purchases without later removals. */
export function amendedSides(
  placed: Pick<PlacedOrder, "key" | "customer" | "channelOrderId"> & { form: KeptOrder; payload: string | null },
  rows: readonly StepRow[],
  parts: Pick<StandingParts, "numbers" | "licenceOrders" | "placedFor">,
  wanted: ReturnType<typeof numberedItems>,
): Sides {
  const forms = new Map<number, KeptOrder>([[placedVersion, placed.form]]);
  for (const row of rows)
    if (row.version !== null && row.body !== null) forms.set(row.version, stored<KeptOrder>(row.body));
  const kept = rows.map((row) => stepOf(row));
  const of: PlacedOrder = { ...placed, bodyHash: "", version: placedVersion, origin: "placed" };
  const standing = standingOf(of, { ...parts, forms, steps: kept });
  if ("lost" in standing) return sidesOf(wanted, { products: [], packages: [] }, { products: [], packages: [] });
  const stands = new Set(
    standing.units.flatMap(({ number, products }) =>
      products.map((item) => keyOf(item.channelOrderId, number ?? "", item.product.id)),
    ),
  );
  const standingNumbers = new Set(standing.units.map(({ number }) => number));
  const unsent = notSent(rows);
  const numberOf = unitNumbers(standing);
  const sent = [
    sentBy(placed.payload, numberOf, undefined),
    ...rows.flatMap((row) => (isPurchase(row) ? [sentBy(row.payload, numberOf, purchaseOf(row))] : [])),
  ];
  const keyIn = ({ purchase, assetNumber }: SentItem, product: string): string =>
    keyOf(purchase?.channelOrderId ?? placed.channelOrderId, assetNumber, product);
  const isSent = (item: SentItem): boolean => stands.has(keyIn(item, item.id)) && !unsent.has(keyIn(item, item.id));
  // The platform removes a package with its last product. A package without products ends with its unit.
  const isSentPackage = (item: SentPackage): boolean =>
    item.inside.length === 0
      ? standingNumbers.has(item.assetNumber)
      : item.inside.some((product) => stands.has(keyIn(item, product)));
  // While an old form exists beside a new one, the last purchase is compared.
  const sides = sidesOf(wanted, standingItems(standing, unsent), {
    products: sent.flatMap((one) => one.products.filter(isSent)).toReversed(),
    packages: sent.flatMap((one) => one.packages.filter(isSentPackage)).toReversed(),
  });
  const units = standing.units.flatMap(({ number, unit }) => (number === undefined ? [] : [[number, unit] as const]));
  const isOver = standing.units.every(({ products }) => products.length === 0);
  return { ...sides, units: new Map(units), isOver };
}

/** A step that only renumbers units belongs to the previous purchase. */
function isPurchase(row: StepRow): boolean {
  const step = stepOf(row);
  return (
    step.kind === "bought" && step.items.some(({ products, packages }) => products.length > 0 || packages.length > 0)
  );
}

/** Things that exist by no call of ours: nothing sent describes them. */
function notSent(rows: readonly StepRow[]): ReadonlyMap<string, Purchase> {
  return new Map(
    rows.flatMap((row) => {
      const step = stepOf(row);
      if (step.kind !== "bought" || step.origin === "sent") return [];
      const purchase = purchaseOf(row);
      return step.items.flatMap(({ number, products }) =>
        products.map((id) => [keyOf(step.channelOrderId, number ?? "", id), purchase] as const),
      );
    }),
  );
}

/** The key of the placed form; it cannot be a version. */
const placedVersion = -1;

function sidesOf(
  wanted: ReturnType<typeof numberedItems>,
  placed: ReturnType<typeof numberedItems>,
  sent: ReturnType<typeof sentItems>,
): Sides {
  return {
    products: { wanted: wanted.products, placed: placed.products, sent: sent.products },
    packages: { wanted: wanted.packages, placed: placed.packages, sent: sent.packages },
  };
}

function standingItems(
  { units }: OrderStanding,
  unsent: ReadonlyMap<string, Purchase>,
): { products: PlacedItem[]; packages: PlacedItem[] } {
  const all = units.map((unit) =>
    numberedItems(
      [
        {
          ...unit.asset,
          assetNumbers: [],
          quantity: 1,
          products: unit.products.map(({ product }) => product),
          packages: unit.packages.map(({ item, channelOrderId }) => {
            const own = unit.products.filter((one) => one.channelOrderId === channelOrderId);
            return standingPackage(item, new Set(own.map(({ product }) => product.id)));
          }),
        },
      ],
      () => (unit.number === undefined ? [] : [unit.number]),
    ),
  );
  const purchases = new Map(
    units.flatMap(({ number, products }) =>
      products.flatMap(({ product, channelOrderId }) => {
        const purchase = unsent.get(keyOf(channelOrderId, number ?? "", product.id));
        return purchase === undefined ? [] : [[keyOf("", number ?? "", product.id), purchase] as const];
      }),
    ),
  );
  const withPurchase = (item: PlacedItem): PlacedItem => {
    const purchase = purchases.get(keyOf("", item.assetNumber ?? "", item.id));
    return purchase === undefined ? item : { ...item, purchase };
  };
  return {
    products: all.flatMap(({ products }) => products.map(withPurchase).toReversed()),
    packages: all.flatMap(({ packages }) => packages.toReversed()),
  };
}

function standingPackage(item: Package<Commitment>, stands: ReadonlySet<string>): Package<Commitment> {
  const children = item.children.filter((child) => {
    const inside = productsUnder(child);
    return inside.length === 0 || inside.some(({ id }) => stands.has(id));
  });
  return { ...item, products: [], children: children.map((child) => standingPackage(child, stands)) };
}

function purchaseOf(row: StepRow): Purchase {
  const licences = stored<{ licenseType: string; licenseOrderId: string }[]>(row.licence_orders);
  return {
    channelOrderId: row.channel_order_id ?? "",
    operationId: row.operation_id,
    at: row.at,
    licenceOrders: new Map(licences.map(({ licenseType, licenseOrderId }) => [licenseType, licenseOrderId])),
  };
}

function sentBy(
  payload: string | null,
  numberOf: (unit: string) => string | undefined,
  purchase: Purchase | undefined,
): ReturnType<typeof sentItems> {
  if (payload === null) return { products: [], packages: [] };
  const { products, packages } = sentItems(stored<OrderShapes["payload"]>(payload), numberOf);
  const marked = <Item extends SentItem>(items: Item[]): Item[] => items.map((item) => ({ ...item, purchase }));
  return { products: marked(products), packages: marked(packages) };
}

function unitNumbers({ order, units }: OrderStanding): (unit: string) => string | undefined {
  const numbers = new Map(
    units.map((unit) => [JSON.stringify([order.namespace, order.id, unit.instanceId, unit.unit]), unit.number]),
  );
  return (unit) => numbers.get(unit);
}

function keyOf(channelOrderId: string, number: string, id: string): string {
  return JSON.stringify([channelOrderId, number, id]);
}
