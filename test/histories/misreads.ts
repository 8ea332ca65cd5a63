import { type JsonObject, isJsonObject } from "../../src/base/canonical-json.ts";
import { streams, type Stream } from "../../src/crm/model.ts";
import type { Draws } from "../simulation/timeline.ts";

/** What a list of a service says of itself and gives: its total, its records in all, and those of a page. */
interface ListGiven {
  total: number;
  most: number;
  size: number;
}

/** What a source gives of one stream while something is wrong with it. */
export interface Misread {
  stream: Stream;
  name: string;
  /** Whether a run has to tell of it. A person under another id is known by the account, and loses nothing. */
  isTold: boolean;
  rows(rows: readonly JsonObject[]): JsonObject[];
  /** What the completion marker of a file is, of which the last row may be half written. */
  marker?: "missing" | "older" | "of more rows";
  isHalfWritten?: boolean;
  /** How many of its entries a look-up table has. */
  entries?: (count: number) => number;
  list?: (count: number) => ListGiven;
}

/** What becomes of some rows, each with its place in the list. */
type Change = (rows: readonly JsonObject[], touched: ReadonlySet<number>) => JsonObject[];

const textOf = (row: JsonObject, field: "id" | "parent"): string => {
  const value = row[field];
  return typeof value === "string" ? value : "";
};

/** The rows that are touched with another id. */
const renamed =
  (name: (id: string) => string): Change =>
  (rows, touched) =>
    rows.map((row, at) => (touched.has(at) ? { ...row, id: name(textOf(row, "id")) } : row));

/** The rows that are touched, each with what the one after it says. */
const shifted: Change = (rows, touched) => {
  const places = [...touched];
  return rows.map((row, at) => {
    const next = places[(places.indexOf(at) + 1) % places.length];
    return touched.has(at) && next !== undefined ? { ...rows[next], id: row["id"] } : row;
  });
};

/** The same lines under other ids. */
const linesRenamed: Change = (rows, touched) =>
  rows.map((row, at) => {
    if (!touched.has(at)) return row;
    const of = (list: string, change: (line: JsonObject) => JsonObject) => {
      const lines = row[list];
      return Array.isArray(lines) ? lines.map((line) => (isJsonObject(line) ? change(line) : line)) : [];
    };
    const again = (line: JsonObject): JsonObject => ({ ...line, id: `${textOf(line, "id")}-again` });
    const assets = of("assets", again);
    const products = of("products", (line) => ({ ...again(line), parent: `${textOf(line, "parent")}-again` }));
    return { ...row, assets, products };
  });

const changes: Record<string, Change> = {
  renumbered: renamed((id) => `0${id}`),
  "other case": renamed((id) => id.toLowerCase()),
  shifted,
  "lines renumbered": linesRenamed,
};

/** A company has few customers: of them little can be wrong. */
const anyStream = (draws: Draws): Stream => draws.pick([...streams, "orders", "staff"] as const) ?? "orders";

/** An export that goes wrong: some of its rows, two at least, or all of them. */
export function misread(draws: Draws): Misread {
  const [name, change] = draws.pick(Object.entries(changes)) ?? ["shifted", shifted];
  const stream: Stream = name === "lines renumbered" ? "orders" : anyStream(draws);
  const share = draws.pick([0, 0.5, 1]) ?? 1;
  const begin = draws.whole(0, 100);
  return {
    stream,
    name,
    isTold: stream !== "staff" || name === "shifted",
    rows(rows) {
      const count = Math.min(rows.length, Math.max(2, Math.ceil(share * rows.length)));
      const touched = Array.from({ length: count }, (_, index) => (begin + index) % rows.length);
      return change(rows, new Set(touched));
    },
  };
}

/** A source with few rows may lose so many of them: what it gives does not look wrong by itself. */
const fewLost = 2;
const lessThan = (count: number, lost: number): number => Math.max(Math.min(1, count), count - lost);

/** Few rows are missing, and never all. */
export function lacking(draws: Draws): Misread {
  const [begin, most] = [draws.whole(0, 100), draws.whole(1, fewLost)];
  return {
    stream: anyStream(draws),
    name: "lacking",
    isTold: true,
    rows: (rows) => rows.filter((_, at) => (at + begin) % rows.length < lessThan(rows.length, most)),
  };
}

/** The export of an earlier night, or a part of this one, as if it were complete. */
export function stale(draws: Draws, earlier: (stream: Stream) => JsonObject[]): Misread {
  const stream = anyStream(draws);
  const marker = draws.pick(["missing", "older", "of more rows"] as const) ?? "missing";
  const state = draws.pick(["earlier", "shorter", "half written"]) ?? "shorter";
  const most = draws.whole(1, fewLost);
  return {
    stream,
    name: `${state}, marker ${marker}`,
    isTold: true,
    rows: (rows) => (state === "earlier" ? earlier(stream) : rows.slice(0, lessThan(rows.length, most))),
    marker,
    isHalfWritten: state === "half written",
  };
}

/** A look-up table without so many of its first entries that nobody believes it, or without all of them. */
export function lostTable(draws: Draws): Misread {
  const share = draws.pick([0, 0.4, 0.8]) ?? 0;
  return {
    stream: "orders",
    name: `a table with ${share} of its entries`,
    isTold: true,
    rows: (rows) => [...rows],
    entries: (count) => Math.floor(share * count),
  };
}

/** A list that says less than there is, ends too early, or both; or one with smaller pages, which lacks nothing. */
export function cappedList(draws: Draws): Misread {
  const name = draws.pick(["small total", "capped", "capped with its total", "small pages"]) ?? "capped";
  const lost = draws.whole(1, fewLost);
  return {
    stream: anyStream(draws),
    name,
    isTold: true,
    rows: (rows) => [...rows],
    list(count) {
      const less = lessThan(count, lost);
      // Nothing but the number of its rows shows it.
      const far = Math.max(0, count - fewLost - 1);
      return (
        {
          "small total": { total: less, most: count, size: 3 },
          capped: { total: count, most: less, size: 3 },
          "capped with its total": { total: far, most: far, size: 3 },
          "small pages": { total: count, most: count, size: 1 },
        }[name] ?? whole(count)
      );
    },
  };
}

/** A list as it should be. */
export function whole(count: number): ListGiven {
  return { total: count, most: count, size: 3 };
}

/** Whether its rows are not all that there is, so that no run may say that all is well. */
export function isOther(one: Misread, rows: readonly JsonObject[]): boolean {
  return JSON.stringify(one.rows(rows)) !== JSON.stringify(rows);
}

/** Whether the source shows that it is not whole, so that no reading of the stream counts as complete. */
export function isShown({ marker, entries, list }: Misread, count: number): boolean {
  const { total, most } = list?.(count) ?? whole(count);
  return marker !== undefined || entries !== undefined || total !== count || most !== count;
}
