import type { Json } from "./operations.ts";

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
/** An id of the program: a short prefix, then at least eight characters with a digit among them. */
const ownId = /^[a-z]{1,8}[_-](?=[0-9a-z]*\d)[0-9a-z]{8,}$/u;
const hash = /(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{32})(?![0-9a-zA-Z])/gu;
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/gu;
const address = /(?:127\.0\.0\.1|localhost):\d+/gu;
const sentence = /\S\s+\S+\s+\S/u;

/** Members whose values measure the machine. */
const measured = /(?:Ms|Seconds|Bytes|duration|elapsed|pid)$/u;

/** Members that say how the program was started, or hold what it drew by chance. */
const left: ReadonlySet<string> = new Set(["header"]);
const drawn: ReadonlySet<string> = new Set(["password"]);

/**
 * Makes a function that puts stable words in the place of ids, times, hashes, addresses and folders. Ids of the program
 * become `#1`, `#2`, … in the order in which it meets them. `facts` leaves out sentences, measured values, and what is
 * null or empty.
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
      .replaceAll(hash, "<hash>")
      .replaceAll(address, "<address>")
      .replaceAll(word, (token) => names.get(token) ?? (ownId.test(token) ? idOf(token) : digits(token)));
  const walk = (value: Json, isFacts: boolean): Json => {
    if (typeof value === "string") return isFacts && sentence.test(value) ? "…" : text(value);
    if (Array.isArray(value)) return value.map((one) => walk(one, isFacts));
    if (typeof value !== "object" || value === null) return value;
    const entries: [string, Json][] = [];
    for (const key of Object.keys(value).toSorted()) {
      const inside = value[key] ?? null;
      if (isFacts && (isEmpty(inside) || measured.test(key) || left.has(key))) continue;
      entries.push([text(key), drawn.has(key) ? "<drawn>" : walk(inside, isFacts)]);
    }
    return Object.fromEntries(entries);
  };
  return { exact: (value) => walk(value, false), facts: (value) => walk(value, true) };
}

function isEmpty(value: Json): boolean {
  if (value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
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
