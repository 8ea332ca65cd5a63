import { stored } from "../../ledger/database/damage.ts";
import type { EarlierRead } from "../../ledger/records/source-reads.ts";
import { groupedRecords, groupedRows, headerRows, type ReadOutcome } from "../../source/reader.ts";
import { unlessAccepted, type Accepted, type Doubt } from "./guards.ts";

/** Below `few` rows, a source may lose `believedOfFew`: one of five is already 20 %. It may never lose all. */
const few = 20;
const believedOfFew = 2;

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

const countedAs = new Map([
  [headerRows, "header rows"],
  [groupedRows, "rows"],
  [groupedRecords, "records that rows are grouped into"],
]);

/** Prefix of look-up tables in counts. No set of details can have such a name. */
const tableMark = "#table ";

export function tableCounts(tables: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(tables).map(([name, entries]) => [`${tableMark}${name}`, entries]));
}

function called(name: string): string {
  if (name.startsWith(tableMark)) return `entries of the table ${name.slice(tableMark.length)}`;
  return countedAs.get(name) ?? `rows of ${name}`;
}

function setsOf(counts: Readonly<Record<string, number>>): string[] {
  return Object.keys(counts).filter((name) => !name.startsWith(tableMark));
}

function hasSets({ details }: EarlierRead): boolean {
  return details !== null && setsOf(stored<Record<string, number>>(details)).length > 0;
}

/** A record without detail rows looks shorter. If joined rows are now grouped, or the reverse, records are compared. */
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

export function lostRows(
  outcome: Pick<ReadOutcome, "complete" | "full" | "details">,
  counts: { rows: number; details: Readonly<Record<string, number>>; tables: Readonly<Record<string, number>> },
  earlier: readonly EarlierRead[],
  { sourceShrink, accepted }: { sourceShrink: number; accepted: Accepted },
): Doubt | undefined {
  const isEnded = outcome.complete && outcome.full;
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
