import type { JsonObject } from "../../src/base/canonical-json.ts";
import { isJsonObject } from "../../src/base/canonical-json.ts";
import type { Stream } from "../../src/crm/model.ts";
import type { Draws } from "../simulation/timeline.ts";

/** Rows of one stream as an export that went wrong has them. */
export interface Misread {
  stream: Stream;
  name: string;
  /** Whether a run has to tell of it. A person under another id is known by the account, and loses nothing. */
  isTold: boolean;
  rows(rows: readonly JsonObject[]): JsonObject[];
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

/** An export that goes wrong: some of its rows, two at least, or all of them. */
export function misread(draws: Draws): Misread {
  const name = draws.pick(Object.keys(changes)) ?? "shifted";
  const stream: Stream =
    name === "lines renumbered" ? "orders" : (draws.pick(["customers", "orders", "staff"] as const) ?? "orders");
  const share = draws.pick([0, 0.5, 1]) ?? 1;
  const begin = draws.whole(0, 100);
  return {
    stream,
    name,
    isTold: stream !== "staff" || name === "shifted",
    rows(rows) {
      const count = Math.min(rows.length, Math.max(2, Math.ceil(share * rows.length)));
      const touched = Array.from({ length: count }, (_, index) => (begin + index) % rows.length);
      return changes[name]?.(rows, new Set(touched)) ?? [...rows];
    },
  };
}
