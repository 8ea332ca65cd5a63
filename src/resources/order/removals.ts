import { formatKey } from "../../crm/keys.ts";
import type { OrderStanding } from "./model.ts";
import type { FixedNumber } from "../../engine/model/references.ts";
import type { Policies } from "../../engine/model/policy-settings.ts";
import type { StateChange } from "../../engine/model/state.ts";
import { type Block, type BlockedRecord, quarantineBlock } from "../../engine/plan/blocks.ts";
import type { PlanOptions } from "../../engine/plan/input.ts";
import {
  type Endings,
  type GoingRow,
  type Removal,
  type RemovalPart,
  type RemovalsGiven,
  type Removing,
  removedWithoutCall,
} from "./removal-parts.ts";
import { deletionsOf, unwantedName } from "./deletions.ts";
import { unitName } from "./renewals.ts";
import { Limits, twinOf } from "./terms.ts";
import { Sights, type Decided, type Gone } from "./removal-sights.ts";

export interface RemovalStage {
  meant: Removal[];
  blocks: BlockedRecord[];
  /** Parts that M7 shows as gone: only the ledger changes. */
  changes: StateChange[];
  /** Asset numbers to end completely, now or after approval. Until then their holders keep them. */
  endingNumbers: ReadonlySet<string>;
}

type RemovalOptions = Pick<PlanOptions, "settings" | "policies" | "removalsBlocked"> & { buys: boolean };

type OrderRemovals = Pick<RemovalStage, "meant" | "changes"> & { blocks: Block[] };

/** Plans removals (E5 delete_product, delete_asset). Never deletes what M7 does not show, or shows differently. */
export function planRemovals(given: RemovalsGiven, endings: readonly Endings[], options: RemovalOptions): RemovalStage {
  const stopped = options.removalsBlocked ?? quarantineBlock(given);
  const unwanted = unwantedOf(endings);
  // A removal that waits for a purchase must not block other units with the same number.
  const going = wholeUnits(endings.filter(({ needs }) => needs.length === 0));
  const planned = [...Map.groupBy(endings, ({ order }) => formatKey(order.order))].map(([key, own]) => {
    if (stopped !== undefined) return { key, meant: [], blocks: [stopped], changes: [] };
    const { settings, policies, buys } = options;
    const removing = { given, limits: new Limits(settings), settings, unwanted, buys };
    return { key, ...planOrder(removing, own, { policies, going }) };
  });
  return {
    meant: planned.flatMap(({ meant }) => meant),
    blocks: planned.flatMap(({ key, blocks }) => blocks.map((block): BlockedRecord => [key, block])),
    changes: planned.flatMap(({ changes }) => changes),
    endingNumbers: new Set(endingWhole(endings, given.known.numbers)),
  };
}

function planOrder(
  removing: Removing,
  endings: readonly Endings[],
  { policies, going }: { policies: Policies; going: ReadonlySet<string> },
): OrderRemovals {
  const { given, limits } = removing;
  const { numbers } = given.known;
  const decided = endings.flatMap((ending) => {
    const sights = new Sights(given, ending, limits);
    return ending.parts.map((part) => decide(sights.decide(part), ending, { numbers, going }));
  });
  const gone = decided.flatMap((one) => one.gone);
  const parts = decided.flatMap(({ goes }) => goes ?? []);
  const { free, blocks } = withoutTwins(parts, limits);
  const made = deletionsOf(removing, free, policies);
  return {
    meant: made.meant,
    blocks: [...decided.flatMap(({ block }) => block ?? []), ...blocks, ...made.blocks],
    changes: endings.slice(0, 1).flatMap(({ order }) => foundGone(order, gone, numbers)),
  };
}

function foundGone(order: OrderStanding, gone: readonly Gone[], numbers: readonly FixedNumber[]): StateChange[] {
  if (gone.length === 0) return [];
  const products = gone.reduce((sum, one) => sum + one.products, 0);
  return removedWithoutCall(order, { items: gone.map(({ item }) => item), products, origin: "found" }, numbers);
}

function decide(
  sight: Decided,
  { order }: Endings,
  units: { numbers: readonly FixedNumber[]; going: ReadonlySet<string> },
): { goes?: RemovalPart | undefined; gone: readonly Gone[]; block?: Block } {
  if ("code" in sight) return { gone: [], block: sight };
  const { goes, gone } = sight;
  const block = goes && afterRenewed(order, goes, units);
  return block === undefined ? { goes, gone } : { gone, block };
}

function endingWhole(endings: readonly Endings[], numbers: readonly FixedNumber[]): string[] {
  const going = wholeUnits(endings);
  const staying = new Set(numbers.filter((item) => !going.has(unitName(item))).map(({ number }) => number));
  return endings.flatMap(({ units }) => [...units].filter((number) => !staying.has(number)));
}

function wholeUnits(endings: readonly Endings[]): ReadonlySet<string> {
  return new Set(
    endings.flatMap(({ order: { order }, parts }) =>
      parts.flatMap(({ unit: { instanceId, unit }, whole }) =>
        whole ? [unitName({ namespace: order.namespace, orderId: order.id, instanceId, unit })] : [],
      ),
    ),
  );
}

/** A renewing unit is removed after the unit that it renews, so the asset goes with the last of them. */
function afterRenewed(
  { order }: OrderStanding,
  part: RemovalPart,
  { numbers, going }: { numbers: readonly FixedNumber[]; going: ReadonlySet<string> },
): Block | undefined {
  const { instanceId, unit } = part.unit;
  if (!part.whole || !part.shared) return undefined;
  const own = unitName({ namespace: order.namespace, orderId: order.id, instanceId, unit });
  const named = numbers.find((item) => item.number === part.number && unitName(item) === own);
  const earlier = new Set(named?.continues?.map(unitName));
  const first = numbers.find(
    (item) => item.number === part.number && earlier.has(unitName(item)) && going.has(unitName(item)),
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

/** Leaves out parts whose deletion would also remove a product that stays (R4). */
function withoutTwins(
  parts: readonly RemovalPart[],
  limits: Limits,
): { free: readonly RemovalPart[]; blocks: Block[] } {
  const blocks: Block[] = [];
  let free = parts;
  for (;;) {
    const going = new Set(free.flatMap((part) => part.rows.flatMap(({ row, isOwned }) => (isOwned ? [row] : []))));
    const twinIn = ({ rows, reading }: RemovalPart): [GoingRow["row"], GoingRow["row"]] | undefined => {
      for (const { row, isOwned } of rows) {
        const other = isOwned ? twinOf(row, reading, going, limits) : undefined;
        if (other !== undefined) return [row, other];
      }
      return undefined;
    };
    const caught = free.find((part) => twinIn(part) !== undefined);
    const twins = caught && twinIn(caught);
    if (caught === undefined || twins === undefined) return { free, blocks };
    const [row, other] = twins;
    const reason =
      `the product ${row.crmProductId ?? ""} under the asset number ${caught.reading.asset.assetNum} cannot be told ` +
      `from ${other.crmProductId ?? "another product"}, which must stay: both have the same product, limits, nodes ` +
      "and licence order, so a deletion would remove both. Remove only the first one on the platform";
    blocks.push({ code: "order.twin-product", reason, again: true });
    free = free.filter((part) => part !== caught);
  }
}
