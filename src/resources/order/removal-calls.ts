import { policyOf } from "../../engine/model/policy.ts";
import type { Policies, PolicyWord } from "../../engine/model/policy.ts";
import type { Endings, Batch, GoingRow, RemovalPart } from "./removal-parts.ts";
import { grouped } from "../../base/lists.ts";
import { isTwin } from "./removal-sight.ts";
import type { Limits } from "./removal-sight.ts";

/** What goes by one call. */
export interface RemovalCall {
  ending: Endings;
  /** Products out of packages of which something stays: a person approves the very call (A42). */
  packaged: boolean;
  batches: Batch[];
}

/** A whole asset that goes, or one product of a known licence order that goes without it; and by which call. */
interface Going {
  part: RemovalPart;
  rows: readonly GoingRow[];
  asset: boolean;
  ending: Endings;
  packaged: boolean;
}

/**
 * Divides what goes of one order into calls: one for each policy, and one more for what is in packages. Twins go by one
 * call, since any call that names one of them takes both: by the one of which a person is asked the most.
 */
export function callsOf(parts: readonly RemovalPart[], policies: Policies, limits: Limits): RemovalCall[] {
  const going = withTwinsTogether(parts.flatMap(goingOf), policies, limits);
  const endings = [...new Set(parts.map((part) => part.ending))];
  return endings.flatMap((ending) =>
    [false, true].flatMap((packaged) => {
      const own = going.filter((one) => one.ending === ending && one.packaged === packaged);
      if (own.length === 0) return [];
      const of = [...new Set([ending, ...own.map((one) => one.part.ending)])];
      const what = of.map((one) => one.what).join("; ");
      const needs = of.flatMap((one) => one.needs);
      return [{ ending: { ...ending, what, needs }, packaged, batches: batchesOf(own, limits) }];
    }),
  );
}

function goingOf(part: RemovalPart): Going[] {
  const { ending, rows } = part;
  if (goesWhole(part)) return [{ part, rows, asset: true, ending, packaged: false }];
  const owned = rows.filter((item) => item.isOwned);
  return owned.map((item) => {
    const packaged = item.standing.packageId !== undefined;
    return { part, rows: [item], asset: false, ending, packaged };
  });
}

/**
 * A whole asset goes only where no other unit has its number, whatever M7 shows of that yet, and where M7 shows nothing
 * in it but what goes, all of it of known licence orders.
 */
function goesWhole({ whole, shared, rows, reading }: RemovalPart): boolean {
  if (!whole || shared || rows.some((item) => !item.isOwned)) return false;
  const going = new Set(rows.map((item) => item.row));
  const licenceOrders = new Set(rows.map((item) => item.row.licenseOrderId));
  return (
    reading.products.every((row) => going.has(row)) &&
    reading.packages.every(({ licenseOrderId }) => licenceOrders.has(licenseOrderId))
  );
}

const careful: Readonly<Record<PolicyWord, number>> = {
  apply: 0,
  ignore: 0,
  report: 0,
  "apply-after-approvals": 1,
  ask: 2,
};

function withTwinsTogether(going: readonly Going[], policies: Policies, limits: Limits): readonly Going[] {
  const askedOf = ({ ending, packaged }: Going): number =>
    careful[policyOf(policies, ending.why)] + (packaged ? Object.keys(careful).length : 0);
  return going.reduce<readonly Going[]>((now, { asset }, index) => {
    const one = now[index];
    if (asset || one === undefined) return now;
    const twins = now.filter((other) => other === one || (!other.asset && areTwins(one, other, limits)));
    const [most = one] = twins.toSorted((left, right) => askedOf(right) - askedOf(left));
    const { ending, packaged } = most;
    return twins.length === 1
      ? now
      : now.map((other) => (twins.includes(other) ? { ...other, ending, packaged } : other));
  }, going);
}

function areTwins(one: Going, other: Going, limits: Limits): boolean {
  if (one.part.number !== other.part.number) return false;
  return one.rows.some(({ row }) => other.rows.some((item) => isTwin(row, item.row, limits)));
}

/** What goes by one call, by the units that it is of: two may have one asset number. */
function batchesOf(going: readonly Going[], limits: Limits): Batch[] {
  const byUnit = grouped(going, ({ part: { number, unit } }) => [number, unit.instanceId, unit.unit]);
  return byUnit.map(([{ part, asset }, own]) => {
    const rows = own.flatMap((one) => one.rows);
    const named = namedRows(rows, limits);
    const all = part.rows.filter((item) => item.isRepeated !== true);
    const isWhole = part.whole && own.every((one) => one.part === part) && named.length === all.length;
    return { ...part, rows, asset, ends: asset || isWhole };
  });
}

/** Those of the rows that a call names: of those that it cannot tell apart one, of each licence order. */
export function namedRows(rows: readonly GoingRow[], limits: Limits): GoingRow[] {
  const named = grouped(rows, ({ row }) => [row.licenseOrderId ?? null, limits.matched(row)]);
  return named.map(([first]) => first);
}
