import type { Json } from "../../base/canonical-json.ts";
import { durationMs } from "../../base/duration.ts";
import type { Bound, Cell, Column, ColumnKind } from "./dialect.ts";
import type { SqlSince } from "./sql-source-settings.ts";
import { instantText, localText } from "./values.ts";

/** What tells changes apart, as text: a whole number, an instant with Z, a local time, or a date. */
type ChangeKind = "integer" | "instant" | "local" | "date";

/**
 * Clocks that are set back show the same two hours again at most: what is written without a zone reaches back further.
 */
const clockChangeMs = 7_200_000;
/** No clock on earth is further ahead of UTC. */
const furthestAheadMs = 50_400_000;

/** Column kinds that can tell what changed since; `any` says it with each value. */
const usable: ReadonlySet<ColumnKind> = new Set<ColumnKind>(["integer", "decimal", "instant", "local", "date", "any"]);

/** Whether a column can tell what changed. */
export function tellsChanges({ kind, isList }: Column): boolean {
  return !isList && usable.has(kind);
}

/**
 * Where the next reading of changes begins: the largest value that was read, as it is; what is asked for reaches back
 * behind it. Times beyond the clock of the database count as no later than that, or a single wrong one would have
 * everything after it missed. Our own clock has no part in it.
 */
export class Newest {
  readonly #kind: ColumnKind;
  #newest: string | undefined;
  #newestKind: ChangeKind | undefined;
  #isUnclear = false;

  constructor(column: Column) {
    this.#kind = column.kind;
  }

  see(cell: Cell): void {
    if (cell === null || this.#isUnclear) return;
    const text = textOf(cell, this.#kind);
    const kind = text === undefined ? undefined : kindOf(text);
    if (text === undefined || kind === undefined || (this.#newestKind ?? kind) !== kind) {
      this.#isUnclear = true;
      return;
    }
    this.#newestKind = kind;
    if (this.#newest === undefined || isLess(this.#newest, text, kind)) this.#newest = text;
  }

  /** Undefined where no value was read, or values that cannot be compared. */
  value(openedAt: string, zone: string | undefined): string | undefined {
    if (this.#newest === undefined || this.#newestKind === undefined || this.#isUnclear) return undefined;
    const latest = latestOf(this.#newestKind, openedAt, zone);
    return latest !== undefined && isLess(latest, this.#newest, this.#newestKind) ? latest : this.#newest;
  }
}

/**
 * What to ask for, so that nothing is missed that changed since; undefined where the column cannot be compared with it:
 * then everything is read.
 */
export function boundOf(
  since: string,
  column: Column,
  settings: Pick<SqlSince, "overlap" | "overlapBy">,
  zone: string | undefined,
): Bound | undefined {
  const given = kindOf(since);
  const wanted = column.kind === "decimal" ? "integer" : column.kind;
  if (given === undefined) return undefined;
  const back = durationMs(settings.overlap);
  if (given === "integer") {
    if (wanted !== "integer" && wanted !== "any") return undefined;
    return {
      kind: column.kind === "decimal" ? "decimal" : "integer",
      text: String(BigInt(since) - BigInt(settings.overlapBy)),
    };
  }
  if (given === "instant" && (wanted === "instant" || wanted === "any"))
    return { kind: "instant", text: shifted(since, -back) };
  if (wanted === "date" || (wanted === "any" && given === "date"))
    return { kind: "date", text: shifted(wholeInstant(since), -back - furthestAheadMs).slice(0, 10) };
  if (wanted !== "local" && wanted !== "any") return undefined;
  const local = given === "instant" ? localIn(since, zone) : since;
  return local === undefined
    ? undefined
    : { kind: "local", text: shifted(wholeInstant(local), -back - clockChangeMs).replace(/Z$/u, "") };
}

/** Whether a value of a record that was read can tell what changed: a time, a date or a whole number. */
export function tellsChange(value: Json): boolean {
  if (typeof value === "string" && /^-?\d{16,40}$/u.test(value)) return true;
  const text = typeof value === "string" || typeof value === "number" ? textOf(value, "any") : undefined;
  return text !== undefined && kindOf(text) !== undefined;
}

function textOf(cell: Exclude<Cell, null>, kind: ColumnKind): string | undefined {
  if (typeof cell === "bigint") return String(cell);
  if (typeof cell === "number") return Number.isSafeInteger(cell) ? String(cell) : undefined;
  if (typeof cell !== "string") return undefined;
  if (kind === "integer") return cell;
  if (kind === "decimal") return cell.replace(/\.0*$/u, "");
  return kind === "instant" ? instantText(cell) : localText(cell, undefined);
}

function kindOf(text: string): ChangeKind | undefined {
  if (/^-?\d{1,40}$/u.test(text)) return "integer";
  if (/^\d{4}-\d\d-\d\d$/u.test(text)) return "date";
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?$/u.test(text)) return undefined;
  return text.endsWith("Z") ? "instant" : "local";
}

/** Times of one kind are in the order of their texts, but for the letter behind them. */
function isLess(one: string, other: string, kind: ChangeKind): boolean {
  if (kind === "integer") return BigInt(one) < BigInt(other);
  return one.replace(/Z$/u, "") < other.replace(/Z$/u, "");
}

function latestOf(kind: ChangeKind, openedAt: string, zone: string | undefined): string | undefined {
  switch (kind) {
    case "integer":
      return undefined;
    case "instant":
      return openedAt;
    case "local":
      return localIn(openedAt, zone) ?? shifted(openedAt, furthestAheadMs).replace(/Z$/u, "");
    case "date":
      return shifted(openedAt, furthestAheadMs).slice(0, 10);
  }
}

function localIn(instant: string, zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined;
  return Temporal.Instant.from(instant).toZonedDateTimeISO(zone).toPlainDateTime().toString();
}

/** A local time or a date as if it were in UTC, to be counted with. */
function wholeInstant(text: string): string {
  if (text.endsWith("Z")) return text;
  return text.length === 10 ? `${text}T00:00:00Z` : `${text}Z`;
}

function shifted(instant: string, ms: number): string {
  return Temporal.Instant.from(instant).add({ milliseconds: ms }).toString();
}
