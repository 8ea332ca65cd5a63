import { stored } from "../../ledger/database/stored.ts";
import type { EarlierRead } from "../../ledger/records/source-reads.ts";
import { groupedRecords, groupedRows, headerRows } from "../../source/reader.ts";
import type { ReadOutcome } from "../../source/reader.ts";
import { unlessAccepted } from "./guards.ts";
import type { Accepted, Doubt } from "./guards.ts";

/**
 * A source with fewer rows than `few` may lose `believedOfFew` of them whatever their share: of five, one is 20 %. It
 * never may lose all.
 */
const few = 20;
const believedOfFew = 2;

/** Why a complete read is not believed: it lost `share` of its rows since an earlier one, or more. */
function shrinkage(
  { now, before, what }: { now: number; before: number; what: string },
  share: number,
  earlier: EarlierRead,
): Doubt | undefined {
  if (before === 0) return undefined;
  const lost = before - now;
  if (now > 0 && (lost < before * share || (before < few && lost <= believedOfFew))) return undefined;
  const most = before < few ? `${believedOfFew} of fewer than ${few}` : `less than ${share * 100} %`;
  const text =
    `the source lost ${lost} of ${before} ${what} (${((lost / before) * 100).toFixed(1)} %) since ` +
    `${earlier.name}; ${most} is believed`;
  return { guard: "rows", count: lost, text };
}

/** What is counted under names that no set of details can have. */
const countedAs = new Map([
  [headerRows, "header rows"],
  [groupedRows, "rows"],
  [groupedRecords, "records that rows are grouped into"],
]);

/** Stands before the name of a look-up table: no set of details can be called so. */
const tableMark = "#table ";

/** The entries of look-up tables as they are counted beside the details of a read. */
export function tableCounts(tables: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(tables).map(([name, entries]) => [`${tableMark}${name}`, entries]));
}

function called(name: string): string {
  if (name.startsWith(tableMark)) return `entries of the table ${name.slice(tableMark.length)}`;
  return countedAs.get(name) ?? `rows of ${name}`;
}

/** What was counted of an earlier read: sets of rows, without look-up tables. */
function setsOf(counts: Readonly<Record<string, number>>): string[] {
  return Object.keys(counts).filter((name) => !name.startsWith(tableMark));
}

/** Whether the rows of an earlier read were joined or grouped: then each set is compared by itself. */
function hasSets({ details }: EarlierRead): boolean {
  return details !== null && setsOf(stored<Record<string, number>>(details)).length > 0;
}

/**
 * The same for rows that are joined or grouped, and for look-up tables, each set for itself: without its detail rows a
 * record looks shorter, and without header rows they are records that nobody can use. Where rows that were joined are
 * grouped now, or the other way round, no set is in both: then their records are compared.
 */
export function detailShrinkage(
  details: Readonly<Record<string, number>>,
  earlier: EarlierRead,
  { sourceShrink }: { sourceShrink: number },
): Doubt[] {
  const known = earlier.details === null ? {} : stored<Record<string, number>>(earlier.details);
  const sets = setsOf(known);
  const now = setsOf(details);
  if (sets.length > 0 && now.length > 0 && !sets.some((name) => Object.hasOwn(details, name))) {
    const records = details[headerRows] ?? details[groupedRecords] ?? 0;
    const ofRecords = shrinkage({ now: records, before: earlier.rows, what: "records" }, sourceShrink, earlier);
    return ofRecords === undefined ? [] : [ofRecords];
  }
  return Object.entries(known)
    .map(([name, before]) =>
      shrinkage({ now: details[name] ?? before, before, what: called(name) }, sourceShrink, earlier),
    )
    .filter((doubt) => doubt !== undefined);
}

/** Why a read is not believed that lost rows, or entries of its look-up tables. `rows`: those of all its parts. */
export function lostRows(
  outcome: Pick<ReadOutcome, "complete" | "full" | "details">,
  counts: { rows: number; details: Readonly<Record<string, number>>; tables: Readonly<Record<string, number>> },
  earlier: readonly EarlierRead[],
  { sourceShrink, accepted }: { sourceShrink: number; accepted: Accepted },
): Doubt | undefined {
  const isEnded = outcome.complete && outcome.full;
  // Look-up tables are whole, whatever the read itself is.
  const counted = isEnded ? counts.details : counts.tables;
  const ofSets = earlier.flatMap((row) => detailShrinkage(counted, row, { sourceShrink }));
  const lost = unlessAccepted(ofSets, accepted);
  if (lost !== undefined || !isEnded) return lost;
  const isJoined = outcome.details !== undefined;
  const ofRecords = earlier.map((row) =>
    isJoined && hasSets(row)
      ? undefined
      : shrinkage({ now: counts.rows, before: row.rows, what: "records" }, sourceShrink, row),
  );
  const doubt = unlessAccepted(ofRecords, accepted);
  return doubt === undefined ? undefined : { ...doubt, isOfAbsence: true };
}
