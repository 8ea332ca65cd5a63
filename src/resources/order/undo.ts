import type { UndoGiven, UndoReading } from "../../engine/model/resource.ts";
import {
  recordsIn,
  impossible,
  type DoneOperation,
  type UndoFacts,
  type UndoRule,
  type Undoes,
  type Undoing,
} from "../../engine/plan/undo.ts";
import {
  type UndoneOrder,
  type OrderStanding,
  type StandingProduct,
  type StandingUnit,
  productsUnder,
} from "./model.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import { typeOf } from "../../engine/model/registry.ts";
import { isSameKey } from "../../engine/model/state.ts";
import { counted } from "../../report/text.ts";
import { buy } from "./amendments.ts";
import type { EndedPart } from "./difference.ts";
import { standingOf, type OrderHistory } from "./fold.ts";
import { grouped } from "../../base/lists.ts";
import type { types } from "./operations.ts";
import { purchaseOf } from "./plan.ts";
import type { Purchase } from "./purchase-parts.ts";
import type { PlannedAsset, PlannedPackage, PlannedProduct } from "./payload.ts";
import { endingsOf, type Endings } from "./removal-parts.ts";
import { planRemovals } from "./removals.ts";
import type { OrderStep } from "./state/changes.ts";
import type { RemovedItem } from "./shapes.ts";

export const undo: { readonly [K in keyof typeof types]?: UndoRule<K> } = {
  "place-order": undoPurchase,
  "amend-order": undoPurchase,
  "delete-products": undoDeletion,
  "delete-package-products": undoDeletion,
  "delete-assets": undoDeletion,
  // Names the products that the ledger knew, so that a person can buy it again.
  "delete-everywhere": (row) => {
    const known = row.operation.after.products.map(
      ({ crmProductId, assetId }) => `${crmProductId} of the asset ${assetId}`,
    );
    const { is, why } = impossible(row.operation.kind);
    return { is, why: `${why}; the ledger knew of ${known.join(", ")}` };
  },
};

const purchases = new Set<string>(["place-order", "amend-order"]);
const deletions = new Set<string>(["delete-products", "delete-package-products", "delete-assets"]);

interface OrderWork {
  order: RecordKey;
  history: OrderHistory;
  standing: OrderStanding;
  bought: ReadonlySet<string>;
  removed: readonly { step: number; item: RemovedItem }[];
}

type Work = OrderWork | { lost: string };

function boughtByRun(of: Pick<Undoing, "rows" | "facts" | "given" | "run">): Endings[] {
  return [...ordersOf(of)].flatMap((order) => {
    const work = workOn(order, of);
    const ending = work === undefined || "lost" in work ? undefined : endingOf(work, of.run);
    return ending === undefined ? [] : [ending];
  });
}

function ordersOf({ rows }: Pick<Undoing, "rows">): ReadonlySet<string> {
  const own = rows.filter(({ operation: { kind } }) => purchases.has(kind) || deletions.has(kind));
  return new Set(own.flatMap(({ operation }) => operation.records.slice(0, 1).map(formatKey)));
}

const standsElsewhere = "it is in the enterprise that the customer was linked with before";

const movedAway = "the CRM gives the order to another customer now; where it moves it back, the runs buy it again";

function workOn(key: string, { rows, facts, given }: Pick<Undoing, "rows" | "facts" | "given">): Work | undefined {
  const history = facts.orders.get(key)?.history;
  if (history === undefined) return undefined;
  const { placed, parts, operations } = history;
  if (formatKey(placed.customer) !== formatKey(given.customer))
    return { lost: `it is now placed for ${formatKey(placed.customer)}` };
  if (given.known.placedOrders.get(key)?.elsewhere === true) return { lost: standsElsewhere };
  if (history.owner !== undefined && !isSameKey(history.owner, given.customer)) return { lost: movedAway };
  const standing = standingOf(placed, parts);
  if ("lost" in standing) return standing;
  const ids = new Set(rows.map((row) => row.id));
  const steps = parts.steps.filter((step) => ids.has(operations.get(step.number) ?? ""));
  const own = rows.filter(({ operation }) => formatKey(operation.records[0] ?? placed.key) === key);
  const isPlacedByIt = own.some(({ operation }) => typeOf(operation).can.claims?.what === "order");
  return {
    order: placed.key,
    history,
    standing,
    bought: new Set([
      ...(isPlacedByIt ? [placed.channelOrderId] : []),
      ...steps.flatMap((step) => (step.kind === "bought" ? [step.channelOrderId] : [])),
    ]),
    removed: steps.flatMap((step) =>
      step.kind === "removed" ? step.items.map((item) => ({ step: step.number, item })) : [],
    ),
  };
}

/** Removed products are bought back before replacements are removed, so nobody is without both. */
function endingOf(work: OrderWork, run: string): Endings | undefined {
  const { standing, bought } = work;
  const parts = standing.units.flatMap((unit): EndedPart[] => {
    const products = unit.products.filter(({ channelOrderId }) => bought.has(channelOrderId));
    if (products.length === 0) return [];
    const packages = unit.packages.filter(({ channelOrderId }) => bought.has(channelOrderId));
    return [{ unit, whole: products.length === unit.products.length, products, packages }];
  });
  if (parts.length === 0) return undefined;
  const count = parts.reduce((sum, part) => sum + part.products.length, 0);
  const what = `undo of ${run}, which bought ${counted(count, "product")} of the order ${formatKey(standing.order)}`;
  const subject = `order:${formatKey(standing.order)}`;
  const needs = lostOf(work).length > 0 ? [{ stage: "orders" as const, subject }] : [];
  return endingsOf(standing, parts, { why: "orders.ended", what, needs });
}

function orderIn(row: DoneOperation, of: Undoing): { key: string; work: Work } {
  const [record] = row.operation.records;
  const key = record === undefined ? "" : formatKey(record);
  return {
    key,
    work: workOn(key, of) ?? { lost: `the ledger has no placed part of ${key} for this customer` },
  };
}

export function undoPurchase(row: DoneOperation, of: Undoing): Undoes {
  const { key, work } = orderIn(row, of);
  if ("lost" in work) return { is: "impossible", why: work.lost };
  const together = of.firstOf(`removal ${key}`, row.id);
  if (together !== row.id) return { is: "with", of: together };
  if (brought(work, of.given.customer)) return { is: "impossible", why: movedHere };
  const ending = endingOf(work, of.run);
  if (ending === undefined) return { is: "nothing-left" };
  const buys = of.rows.some(({ operation: { kind } }) => deletions.has(kind));
  const { meant, blocks } = planRemovals(of.given, [ending], { ...of.options, buys });
  const [block] = blocks;
  if (meant.length > 0) return { is: "meant", meant, lacks: block?.[1].reason };
  return block === undefined ? { is: "nothing-left" } : { is: "waits", block: block[1] };
}

const movedHere =
  "the order moved here in the CRM and is gone where it was: without this purchase nobody would have it; " +
  "where the CRM moves it back, the runs do";

/** Whether the run made the first purchase of an order that moved here. */
function brought({ history: { placed, parts }, bought }: OrderWork, customer: RecordKey): boolean {
  const isElsewhere = (key: RecordKey): boolean => !isSameKey(key, customer);
  if (!isElsewhere(placed.placedFor ?? placed.customer) && !parts.steps.some((step) => isElsewhere(step.customer)))
    return false;
  return parts.steps.some((step) => {
    if (step.kind !== "bought" || isElsewhere(step.customer) || !bought.has(step.channelOrderId)) return false;
    const before = standingOf(placed, { ...parts, steps: parts.steps.filter((other) => other.number < step.number) });
    return !("lost" in before) && before.units.every(({ products }) => products.length === 0);
  });
}

interface Lost {
  instanceId: string;
  unit: number;
  number: string | null;
  standing: StandingProduct;
  version: number;
}

export function undoDeletion(row: DoneOperation, of: Undoing): Undoes {
  const { key, work } = orderIn(row, of);
  if ("lost" in work) return { is: "impossible", why: work.lost };
  const together = of.firstOf(`purchase ${key}`, row.id);
  if (together !== row.id) return { is: "with", of: together };
  const lost = lostOf(work);
  const version = Math.max(...lost.map((item) => item.version));
  const now = lost.filter((item) => item.version === version);
  if (now.length === 0) return { is: "nothing-left" };
  const order = work.history.forms.get(version);
  if (order === undefined) return { is: "impossible", why: `form ${version} of the order ${key} is not kept any more` };
  const { bought, apart } = purchasesOf(work, now, order.tree.assets);
  if (bought.length === 0) return { is: "impossible", why: apart ?? "nothing of it can be bought by itself" };
  const { placed } = work.history;
  const { meant = [], blocks: [block] = [] } = buy({ order, placed, standing: work.standing }, bought, {
    make: (own, purchased) => purchaseOf(of.given, own, purchased, of.options.settings),
  });
  if (block !== undefined) return { is: "waits", block };
  const reason = `undo of ${of.run}: the removed part of the order is bought again`;
  const others = lost.length > now.length ? "purchases from other forms follow with another undo" : undefined;
  return { is: "meant", meant: meant.map((item) => ({ ...item, reason })), lacks: others ?? apart };
}

/** Products that the run removed and nobody bought again, apart from the run's own replacements. */
function lostOf({ history: { placed, parts }, standing, bought, removed }: OrderWork): Lost[] {
  const versions = new Map([[placed.channelOrderId, placed.version]]);
  for (const step of parts.steps) if (step.kind === "bought") versions.set(step.channelOrderId, step.version);
  const steps = parts.steps.filter((step) => step.kind === "bought" && !bought.has(step.channelOrderId));
  return removed.flatMap(({ step, item }) => {
    const { instanceId, unit, number } = item;
    const before = standingOf(placed, { ...parts, steps: parts.steps.filter((other) => other.number < step) });
    if ("lost" in before) return [];
    const stood = unitIn(before, instanceId, unit)?.products ?? [];
    const stands = unitIn(standing, instanceId, unit)?.products ?? [];
    return stood
      .filter(({ product }) => item.product === null || product.id === item.product)
      .filter(({ channelOrderId }) => item.channelOrderId === null || channelOrderId === item.channelOrderId)
      .filter(({ product }) => !stands.some((one) => one.product.id === product.id && !bought.has(one.channelOrderId)))
      .filter((one) => !steps.some((later) => later.number > step && brings(later, { instanceId, unit }, one)))
      .map((one) => ({
        instanceId,
        unit,
        number,
        standing: one,
        version: versions.get(one.channelOrderId) ?? placed.version,
      }));
  });
}

function brings(
  step: OrderStep,
  { instanceId, unit }: Pick<Lost, "instanceId" | "unit">,
  { product, packageId = "" }: StandingProduct,
): boolean {
  return (
    step.kind === "bought" &&
    step.items.some(
      (item) =>
        item.instanceId === instanceId &&
        item.unit === unit &&
        (item.products.includes(product.id) || item.packages.includes(packageId)),
    )
  );
}

function unitIn({ units }: OrderStanding, instanceId: string, unit: number): StandingUnit | undefined {
  return units.find((one) => one.instanceId === instanceId && one.unit === unit);
}

/** `apart`: why a part is not bought again. */
function purchasesOf(
  { standing }: OrderWork,
  lost: readonly Lost[],
  assets: readonly PlannedAsset[],
): { bought: Purchase[]; apart: string | undefined } {
  const parts = grouped(lost, ({ instanceId, unit }) => [instanceId, unit]).flatMap(([first, items]) => {
    const asset = assets.find(({ id }) => id === first.instanceId);
    if (asset === undefined) return [];
    const ids = new Set(items.map((item) => item.standing.product.id));
    const products = asset.products.filter(({ id }) => ids.has(id)).map(withoutPasswords);
    const wanted = new Set(items.flatMap((item) => item.standing.packageId ?? []));
    const packages = asset.packages.filter(({ id }) => wanted.has(id));
    const whole = packages.filter((item) => productsUnder(item).every(({ id }) => ids.has(id)));
    const given = first.number !== null && asset.assetNumbers.includes(first.number) ? first.number : undefined;
    const purchase: Purchase = {
      part: { asset, unit: first.unit, given },
      standing: unitIn(standing, first.instanceId, first.unit),
      products,
      packages: whole.map(packageWithoutPasswords),
    };
    return [{ purchase, isInPart: whole.length < packages.length }];
  });
  const isInPart = parts.some((one) => one.isInPart);
  return {
    bought: parts.flatMap(({ purchase }) =>
      purchase.products.length + purchase.packages.length === 0 ? [] : purchase,
    ),
    apart: isInPart ? "a single product of a package cannot be bought by itself" : undefined,
  };
}

/** Licence passwords were wiped after sending. */
function withoutPasswords(product: PlannedProduct): PlannedProduct {
  return { ...product, passwords: undefined };
}

function packageWithoutPasswords(item: PlannedPackage): PlannedPackage {
  return {
    ...item,
    products: item.products.map(withoutPasswords),
    children: item.children.map(packageWithoutPasswords),
  };
}

function standingsOfUndone(
  standings: CustomerInput["standings"] = new Map(),
  { orders }: Pick<UndoFacts, "orders">,
): CustomerInput["standings"] {
  const own = [...orders].flatMap(([key, { history }]) =>
    history === undefined ? [] : [[key, standingOf(history.placed, history.parts)] as const],
  );
  return new Map([...standings, ...own]);
}

export const undoFacts: UndoReading<"orders"> = async ({ state, records }, customer, rows) => {
  const orders = new Map<string, UndoneOrder>();
  for (const [key, order] of recordsIn(rows, "orders")) {
    const history = await state.readTogether((open) => open.order.history(customer, order));
    orders.set(key, { history, now: await records.orderNow(order) });
  }
  return { orders };
};

function contents(of: Parameters<typeof boughtByRun>[0]): ReadonlySet<string> | "all" | undefined {
  const parts = boughtByRun(of).flatMap((ending) => ending.parts);
  if (parts.length === 0) return undefined;
  const numbers = new Set<string>();
  for (const { unit } of parts) {
    if (unit.number === undefined) return "all";
    numbers.add(unit.number);
  }
  return numbers;
}

export const undoGiven: UndoGiven = {
  contents,
  instead: ({ standings }, facts) => ({ standings: standingsOfUndone(standings, facts) }),
};
