import { expect } from "vitest";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { type JsonObject, isJsonObject } from "../../../src/base/canonical-json.ts";
import type { Stream } from "../../../src/crm/model.ts";
import type { ReadOptions, ReadOutcome } from "../../../src/source/reader.ts";
import type { Source, SourceDeps } from "../../../src/source/source.ts";
import { readPreset } from "../../../src/setup/init-from.ts";
import { openSource, readAll } from "../../source/support.ts";

/** What a person fills in for the one product that the shops of the tests sell. */
export const products = {
  inline: {
    "CAD-10": {
      gmsPid: "P-CAD",
      licenseType: "softkey",
      type: "tool",
      timeUnit: "YEAR",
      timeUnitQuantity: 1,
      term: "1-0-0",
    },
  },
};

/** What a person fills in for the customers. */
export const branch = { mapping: { branchCode: { value: "B1" }, branchName: { value: "North" } } };

/** A canonical customer of that branch. */
export function customer(id: string, name: string, more: JsonObject = {}): JsonObject {
  const known = { namespace: "crm", customerType: "company", branchCode: "B1", branchName: "North" };
  return { ...known, id, name, ...more };
}

/** What a line of an order becomes: an asset, and the product on it. */
export function instancesOf(line: string, nodes: number, name = "CAD"): JsonObject[] {
  return [
    { kind: "asset", id: line, licenseType: "softkey", assetNumbers: [], quantity: 1, extensions: [] },
    {
      kind: "product",
      id: `${line}-P`,
      parentId: line,
      name,
      gmsPid: "P-CAD",
      type: "tool",
      nodes,
      trial: false,
      timeUnit: "YEAR",
      timeUnitQuantity: 1,
      term: "1-0-0",
      features: [],
    },
  ];
}

/** What the lines of an order become: all assets before all products. */
export function instancesOfAll(...lines: JsonObject[][]): JsonObject[] {
  return lines.flat().toSorted((a, b) => Number(a["kind"] === "product") - Number(b["kind"] === "product"));
}

/** The canonical person whom the contacts of the tests hold. */
export function annLee(id: string, customerId: string, more: JsonObject = {}): JsonObject {
  return { namespace: "crm", id, customerId, userName: "annlee", name: "Ann Lee", assets: [], ...more };
}

/** A reading takes no time on it, so that what the next one asks for is known to the millisecond. */
const atOnce: Clock = { ...systemClock, monotonic: () => 0 };

/** The settings of a preset, as `init` writes them. */
export function settingsOf(preset: string): JsonObject {
  const settings: JsonObject = readPreset(preset).document.toJS();
  return settings;
}

/** Settings with what a person changes of them; null removes a key. */
export function over(settings: JsonObject, own: JsonObject): JsonObject {
  const result: JsonObject = { ...settings };
  for (const [key, value] of Object.entries(own)) {
    const below = settings[key];
    if (value === null) delete result[key];
    else result[key] = isJsonObject(value) && isJsonObject(below) ? over(below, value) : value;
  }
  return result;
}

/** A source of a preset, with what a person changes of it; requests are repeated without waiting. */
export function sourceOf(preset: string, own: JsonObject, deps: Partial<SourceDeps> = {}): Source {
  const settings = over(settingsOf(preset), own);
  const fast = { requestsPerSecond: 1_000, retries: 2, retryBaseMs: 1, retryMaxMs: 1 };
  return openSource({ ...settings, ...(settings["kind"] === "http" ? fast : {}) }, ".", { clock: atOnce, ...deps });
}

export interface Replayed {
  /** Canonical records, in the order of the source; of one that is skipped, its key. */
  records: unknown[];
  skipped: number;
  /** What kept others from being a record. */
  refused: string[];
  outcome: ReadOutcome;
}

/** Everything that a stream gives, mapped. */
export async function replay(source: Source, stream: Stream, options: ReadOptions = {}): Promise<Replayed> {
  const { raws, bads, outcome } = await readAll(source, stream, options);
  const { map, skip } = await source.mapping(stream);
  const problem = outcome.problem === undefined ? [] : [outcome.problem.message];
  const refused = [...problem, ...bads.map(({ code, message }) => `${code}: ${message}`)];
  const records: unknown[] = [];
  let skipped = 0;
  for (const { value } of raws) {
    const left = skip?.(value);
    if (left?.ok === true && left.value) {
      skipped += 1;
      continue;
    }
    const mapped = map(value);
    if (mapped.ok) records.push(mapped.value.record);
    else refused.push(`${mapped.error.field} ${mapped.error.code}`);
  }
  return { records, skipped, refused, outcome };
}

/** When the records of the tests were changed, less what a reading of changes reaches back. */
const reachedBack = "2026-11-01T09:55:00.000Z";

/** Reads a stream, and then what changed since; returns what the second reading gave. */
export async function replayChanges(source: Source, stream: Stream): Promise<Replayed> {
  const { outcome } = await replay(source, stream);
  expect(outcome.cursor).toBe(reachedBack);
  const again = await replay(source, stream, { since: reachedBack });
  expect([again.outcome.complete, again.outcome.full]).toEqual([true, false]);
  return again;
}

/** Reads customers with credentials that are over: nothing is read. Returns what is said of it. */
export async function replayRefused(source: Source): Promise<string> {
  const { records, refused, outcome } = await replay(source, "customers");
  expect([records, outcome.complete]).toEqual([[], false]);
  return refused.join();
}

/** Whether something is asked for the first time, by name. */
export function firstTimes(): (name: string) => boolean {
  const seen = new Set<string>();
  return (name) => !seen.has(name) && Boolean(seen.add(name));
}

/** A cursor of a page that begins after so many records, opaque as those of services are. */
export function cursorAfter(records: number): string {
  return Buffer.from(JSON.stringify({ after: records })).toString("base64url");
}

/** How many records a cursor leaves behind it; none without one. */
export function leftBehind(cursor: string | undefined): number {
  return cursor === undefined ? 0 : Number(Buffer.from(cursor, "base64url").toString().replaceAll(/\D/gu, ""));
}
