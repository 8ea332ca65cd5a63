import { noWeight } from "../../engine/taking.ts";
import type { Weight } from "../../engine/taking.ts";
import type { Batch, GoingRow, RemovalsGiven } from "./removal-parts.ts";
import type { Limits } from "./removal-sight.ts";

/** What a deletion takes away, as M7, M6 and M5 show it now. What stands in a form that is not smaller is not taken. */
export function weightOfRemoval(batches: readonly Batch[], { observed }: RemovalsGiven, limits: Limits): Weight {
  const assets = batches.filter((batch) => batch.asset);
  const numbers = new Set(assets.map((batch) => batch.number));
  const holders = new Set(assets.flatMap((batch) => batch.reading.asset.holder ?? []));
  const losing = (observed.members ?? []).filter(
    (member) => holders.has(member.globalId) && member.assetNums.every((number) => numbers.has(number)),
  );
  const touched = new Set(batches.flatMap((batch) => batch.reading.asset.holder ?? []));
  const rows = batches.flatMap((batch) =>
    batch.rows.filter((item) => item.isRepeated !== true && !isReplaced(item, observed.contents, limits)),
  );
  return {
    ...noWeight,
    seats: assets.filter((batch) => batch.reading.asset.holder !== null).length,
    products: rows.length,
    nodes: rows.reduce((sum, { row }) => sum + (row.limitConcurrent ?? 0), 0),
    lastAsset: losing.length,
    online: (observed.members ?? []).filter(({ globalId, online }) => online && touched.has(globalId)).length,
  };
}

/** Whether M7 shows the product in a new form with no fewer nodes and no earlier end. */
function isReplaced({ by, row }: GoingRow, contents: RemovalsGiven["observed"]["contents"], limits: Limits): boolean {
  if (by === undefined) return false;
  const shown = contents?.get(by.unit.number ?? "")?.products ?? [];
  const purchases = by.products.flatMap(({ product, channelOrderId }) =>
    product.id === row.crmProductId ? [channelOrderId] : [],
  );
  const next = shown.find(
    (item) => item.crmProductId === row.crmProductId && purchases.includes(item.channelOrderId ?? ""),
  );
  if (next === undefined || (next.limitConcurrent ?? 0) < (row.limitConcurrent ?? 0)) return false;
  const before = limits.shown(row.limitEndTime);
  const after = limits.shown(next.limitEndTime);
  if ("fault" in before || "fault" in after) return false;
  return after.wire === undefined || (before.wire !== undefined && Number(after.wire) >= Number(before.wire));
}
