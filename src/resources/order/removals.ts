import { formatKey } from "../../crm/keys.ts";
import type { OrderStanding } from "./order-standing.ts";
import type { EarlierUnit } from "../../engine/asset-numbers.ts";
import { isShared } from "./state/asset-numbers.ts";
import type { FixedNumber } from "./state/asset-numbers.ts";
import type { StateChange } from "../../engine/state.ts";
import type { Block, BlockedRecord } from "../../engine/plan/block.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";
import type { Endings } from "./order-difference.ts";
import { deletionsOf } from "./deletions.ts";
import type { Removal, RemovalPart, RemovalsGiven } from "./removal-parts.ts";
import { Limits, twinOf } from "./removal-sight.ts";
import { unwantedName } from "./removal-everywhere.ts";
import { Sights } from "./removal-sights.ts";
import type { Gone } from "./removal-sights.ts";
import { quarantineBlock } from "../../engine/plan/quarantine-block.ts";

export interface RemovalStage {
  meant: Removal[];
  blocks: BlockedRecord[];
  /** What M7 shows as gone already: the ledger follows it, and nothing is sent. */
  changes: StateChange[];
  /** Asset numbers that are to go whole, be it later or once it was approved: who holds one keeps it until then. */
  endingNumbers: ReadonlySet<string>;
}

/** `buys`: something is bought for the customer in the same plan. */
type RemovalOptions = Pick<PlanOptions, "settings" | "policies" | "takingBlocked"> & { buys: boolean };

/**
 * Plans what is taken away of orders (E5 delete_product, delete_asset): what nobody wants any more, as M7 shows it now.
 * What M7 does not show, or shows otherwise than it was bought, is never deleted by guess.
 */
export function planRemovals(given: RemovalsGiven, endings: readonly Endings[], options: RemovalOptions): RemovalStage {
  const endingNumbers = new Set<string>();
  const stage: RemovalStage = { meant: [], blocks: [], changes: [], endingNumbers };
  if (endings.length === 0) return stage;
  const stopped = options.takingBlocked ?? quarantineBlock(given);
  for (const number of endingWhole(endings, given.known.numbers)) endingNumbers.add(number);
  const unwanted = unwantedOf(endings);
  // What waits for a purchase itself may wait for what has its number: nothing waits for that in turn.
  const going = wholeUnits(endings.filter(({ needs }) => needs.length === 0));
  for (const [key, own] of Map.groupBy(endings, ({ order }) => formatKey(order.order))) {
    if (stopped === undefined) planOrder(stage, given, own, { ...options, unwanted, whole: going });
    else stage.blocks.push([key, stopped]);
  }
  return stage;
}

/** Numbers of which every unit that has them goes whole, however many orders those are of. */
function endingWhole(endings: readonly Endings[], numbers: readonly FixedNumber[]): string[] {
  const going = wholeUnits(endings);
  const staying = new Set(numbers.filter((item) => !going.has(nameOf(item))).map(({ number }) => number));
  return endings.flatMap(({ units }) => [...units].filter((number) => !staying.has(number)));
}

function wholeUnits(endings: readonly Endings[]): ReadonlySet<string> {
  return new Set(
    endings.flatMap(({ order: { order }, parts }) =>
      parts.flatMap(({ unit: { instanceId, unit }, whole }) =>
        whole ? [nameOf({ namespace: order.namespace, orderId: order.id, instanceId, unit })] : [],
      ),
    ),
  );
}

function nameOf({ namespace, orderId, instanceId, unit }: EarlierUnit): string {
  return JSON.stringify([namespace, orderId, instanceId, unit]);
}

/** A unit that renews another one goes after that one, so that the asset goes with the last of them. */
function afterRenewed(
  { order }: OrderStanding,
  part: RemovalPart,
  { numbers, going }: { numbers: readonly FixedNumber[]; going: ReadonlySet<string> },
): Block | undefined {
  const { instanceId, unit } = part.unit;
  if (!part.whole || !part.shared) return undefined;
  const own = nameOf({ namespace: order.namespace, orderId: order.id, instanceId, unit });
  const named = numbers.find((item) => item.number === part.number && nameOf(item) === own);
  const earlier = new Set(named?.continues?.map(nameOf));
  const first = numbers.find(
    (item) => item.number === part.number && earlier.has(nameOf(item)) && going.has(nameOf(item)),
  );
  if (first === undefined) return undefined;
  const reason =
    `${first.instanceId} of the order ${formatKey({ namespace: first.namespace, id: first.orderId })} has the asset ` +
    `number ${part.number} too. It also ends, and crm-sync removes it first`;
  return { code: "operation.waits", reason, again: true };
}

function unwantedOf(endings: readonly Endings[]): Set<string> {
  const parts = endings.flatMap((ending) => ending.parts);
  const names = parts.flatMap(({ unit: { number }, products }) =>
    products.map(({ product, channelOrderId }) =>
      unwantedName(number ?? "", { crmProductId: product.id, channelOrderId }),
    ),
  );
  return new Set(names);
}

function planOrder(
  stage: RemovalStage,
  given: RemovalsGiven,
  endings: readonly Endings[],
  {
    settings,
    policies,
    buys,
    unwanted,
    whole: goingWhole,
  }: RemovalOptions & Record<"unwanted" | "whole", ReadonlySet<string>>,
): void {
  const [order] = endings.map((ending) => ending.order);
  if (order === undefined) return;
  const key = formatKey(order.order);
  const limits = new Limits(settings);
  const going: RemovalPart[] = [];
  const gone: Gone[] = [];
  for (const ending of endings) {
    const sights = new Sights(given, ending, limits);
    for (const part of ending.parts) {
      const decided = sights.decide(part);
      if ("code" in decided) {
        stage.blocks.push([key, decided]);
        continue;
      }
      const waits =
        decided.goes && afterRenewed(order, decided.goes, { numbers: given.known.numbers, going: goingWhole });
      if (waits !== undefined) stage.blocks.push([key, waits]);
      else if (decided.goes !== undefined) going.push(decided.goes);
      gone.push(...decided.gone);
    }
  }
  if (gone.length > 0) foundGone(stage, order, gone, given.known.numbers);
  const free = withoutTwins(stage, key, going, limits);
  const made = deletionsOf({ given, limits, settings, unwanted, buys }, free, policies);
  stage.meant.push(...made.meant);
  stage.blocks.push(...made.blocks.map((block): BlockedRecord => [key, block]));
}

/** What M7 no longer shows: the ledger follows it and says so, and nothing is sent. */
function foundGone(
  stage: RemovalStage,
  { order, customer }: OrderStanding,
  gone: readonly Gone[],
  fixed: readonly FixedNumber[],
): void {
  const products = gone.reduce((sum, one) => sum + one.products, 0);
  stage.changes.push({
    type: "order-removed",
    order,
    customer,
    operationId: null,
    origin: "found",
    products,
    items: gone.map(({ item }) => item),
  });
  const numbers = gone.flatMap(({ item: { product, number, instanceId, unit } }) =>
    product === null && number !== null && !isShared(fixed, { order, instanceId, unit, number }) ? [number] : [],
  );
  if (numbers.length > 0) stage.changes.push({ type: "numbers-ended", numbers });
}

/** Leaves out every part with a product that would take another one along which stays (R4). */
function withoutTwins(stage: RemovalStage, key: string, parts: RemovalPart[], limits: Limits): RemovalPart[] {
  let free = parts;
  for (;;) {
    // What goes out of all orders goes by a call of its own, which only a person's word releases.
    const going = new Set(free.flatMap((part) => part.rows.flatMap(({ row, isOwned }) => (isOwned ? [row] : []))));
    const caught = free.find((part) =>
      part.rows.some(({ row, isOwned }) => isOwned && twinOf(row, part.reading, going, limits)),
    );
    if (caught === undefined) return free;
    const { reading, rows } = caught;
    const named = rows.find(({ row, isOwned }) => isOwned && twinOf(row, reading, going, limits) !== undefined);
    const other = named === undefined ? undefined : twinOf(named.row, reading, going, limits);
    const reason =
      `the product ${named?.row.crmProductId ?? ""} under the asset number ${reading.asset.assetNum} cannot be told ` +
      `from ${other?.crmProductId ?? "another product"}, which must stay: both have the same product, limits, nodes ` +
      "and licence order, so a deletion would remove both. Remove only the first one on the platform";
    stage.blocks.push([key, { code: "order.twin-product", reason, again: true }]);
    free = free.filter((part) => part !== caught);
  }
}
