import { member, text as textOf, type Json } from "./operations.ts";

/** What a life may show of itself that is different each time, and what stands for it. */
export interface Stable {
  /** Names of the services' numbers. */
  names: ReadonlyMap<string, string>;
  /** The folder of the life. */
  folder: string;
  /** Times of the life, epoch milliseconds: what lies in a step shows the step's begin. */
  steps: readonly number[];
}

const stepMs = 10 * 60_000;
const word = /[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*/gu;
/** An id of the program: a short prefix, then at least eight characters with a digit among them, or a hold. */
const ownId = /^(?:[a-z]{1,8}[_-](?=[0-9a-z]*\d)[0-9a-z]{8,}|h-[0-9a-f]{8})$/u;
const hash = /(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{32})(?![0-9a-zA-Z])/gu;
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)/gu;
/** A time in the name of a file. */
const stamp = /\d{8}T\d{6}\.\d{3}Z/gu;
const address = /(?:127\.0\.0\.1|localhost):\d+/gu;
const sentence = /\S\s+\S+\s+\S/u;

/** Members whose values measure the machine, its batches, or time that is cut to a whole number. */
const measured = /(?:Ms|Seconds|[Bb]ytes|duration|elapsed|pid|age_hours|commits|keptHeads)$/u;

/** Members that say how the program was started and by whom, or again what the calls and the runs say. */
const left: ReadonlySet<string> = new Set(["header", "who", "lastRuns", "payload", "context", "lookFor"]);
/** Members that hold what was drawn by chance. */
const drawn: ReadonlySet<string> = new Set(["password"]);

/**
 * Makes a function that puts stable words in the place of ids, times, hashes, addresses and folders. Ids of the program
 * become `#1`, `#2`, … in the order in which it meets them. `facts` leaves out sentences, hashes, measured values, and
 * what is null, false, zero or empty.
 */
export function stabiliser({ names, folder, steps }: Stable): {
  exact: (value: Json) => Json;
  facts: (value: Json) => Json;
} {
  const ids = new Map<string, string>();
  const idOf = (id: string): string => {
    const known = ids.get(id) ?? `#${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  const text = (value: string): string =>
    value
      .replaceAll(folder, "<folder>")
      .replaceAll(instant, (time) => begunIn(steps, time))
      .replaceAll(stamp, "<time>")
      .replaceAll(hash, "<hash>")
      .replaceAll(address, "<address>")
      .replaceAll(word, (token) => names.get(token) ?? (ownId.test(token) ? idOf(token) : digits(token)));
  const walk = (value: Json, isFacts: boolean): Json => {
    if (typeof value === "string") return isFacts && sentence.test(value) ? "…" : text(value);
    if (Array.isArray(value)) return (isFacts ? inOrder(value) : value).map((one) => walk(one, isFacts));
    if (typeof value !== "object" || value === null) return value;
    const entries: [string, Json][] = [];
    for (const key of Object.keys(value).toSorted()) {
      if (isFacts && (measured.test(key) || left.has(key))) continue;
      const inside = walk(value[key] ?? null, isFacts);
      if (!isFacts || !isEmpty(inside)) entries.push([text(key), drawn.has(key) ? "<drawn>" : inside]);
    }
    return Object.fromEntries(entries);
  };
  return { exact: (value) => walk(value, false), facts: (value) => walk(value, true) };
}

/** What is in quarantine is listed by ids that were drawn by chance; here it stands by its place. */
function inOrder(list: Json[]): Json[] {
  if (!list.some((one) => textOf(member(one, "place")) !== "")) return list;
  const placeOf = (one: Json): string => ["stream", "place", "code"].map((key) => textOf(member(one, key))).join(" ");
  return list.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
}

function isEmpty(value: Json): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return [null, false, 0, "", "…", "<hash>"].includes(value);
}

/** Numbers of the services that nothing gave a name. */
function digits(token: string): string {
  return /^6\d{18}$/u.test(token) ? "<id>" : token;
}

/** A time of the life is shown as the begin of its step: how long a step takes is nobody's business. */
function begunIn(steps: readonly number[], time: string): string {
  const at = Date.parse(time);
  const begin = steps.findLast((step) => step <= at);
  return begin !== undefined && at < begin + stepMs
    ? new Date(begin).toISOString().replace(/:\d\d\.\d+Z$/u, "Z")
    : time;
}
