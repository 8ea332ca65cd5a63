import type { EarlierRead } from "../ledger/records/source-reads.ts";
import { groupedRecords, groupedRows, headerRows } from "../source/reader.ts";

/**
 * A source with fewer rows than `few` may lose `believedOfFew` of them whatever their share: of five, one is 20 %. It
 * never may lose all.
 */
const few = 20;
const believedOfFew = 2;

/** The first doubt that one of these rows raises. */
export function firstOf<Row>(rows: readonly Row[], doubt: (row: Row) => string | undefined): string | undefined {
  for (const row of rows) {
    const found = doubt(row);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Why a complete read is not believed about what is gone: it lost too large a share of its records. */
export function shrinkage(
  rows: number,
  before: number,
  share: number,
  what: string,
  earlier: EarlierRead,
): string | undefined {
  if (before === 0) return undefined;
  const lost = before - rows;
  if (rows > 0 && (lost < before * share || (before < few && lost <= believedOfFew))) return undefined;
  const most = before < few ? `${believedOfFew} of fewer than ${few}` : `less than ${share * 100} %`;
  return (
    `the source lost ${lost} of ${before} ${what} (${((lost / before) * 100).toFixed(1)} %) since ` +
    `${earlier.name}; ${most} is believed`
  );
}

/** What is counted under names that no set of details can have. */
const countedAs = new Map([
  [headerRows, "header rows"],
  [groupedRows, "rows"],
  [groupedRecords, "records that rows are grouped into"],
]);

/**
 * The same for rows that are joined or grouped, each set for itself: without its detail rows a record looks shorter,
 * and without header rows they are records that nobody can use. Where rows that were joined are grouped now, or the
 * other way round, no set is in both: then their records are compared.
 */
export function detailShrinkage(
  details: Readonly<Record<string, number>>,
  earlier: EarlierRead,
  limits: { sourceShrink: number },
): string | undefined {
  const known: unknown = JSON.parse(earlier.details ?? "{}");
  const sets = Object.entries(known ?? {});
  if (sets.length > 0 && !sets.some(([name]) => Object.hasOwn(details, name))) {
    const records = details[headerRows] ?? details[groupedRecords] ?? 0;
    return shrinkage(records, earlier.rows, limits.sourceShrink, "records", earlier);
  }
  for (const [name, rows] of sets) {
    if (typeof rows !== "number") continue;
    const lost = shrinkage(
      details[name] ?? rows,
      rows,
      limits.sourceShrink,
      countedAs.get(name) ?? `rows of ${name}`,
      earlier,
    );
    if (lost !== undefined) return lost;
  }
  return undefined;
}
