import { Session } from "node:inspector";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const project = `${pathToFileURL(join(import.meta.dirname, "../..")).href}/`;

/** How often each function of `src` was called, by `file:offset name`, with its offset in the file. */
export type Calls = Record<string, number>;

/**
 * Counts the calls in this process from now on. An asynchronous function or a generator counts as called again each time
 * it continues. Calls of functions that were compiled before may be missed.
 */
export class CallCounter {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  /** The calls since the counter was started or read last. */
  read(): Calls {
    const calls: Calls = {};
    this.#session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error !== null) throw error;
      for (const { url, functions } of result) {
        const file = url.slice(project.length);
        if (!url.startsWith(project) || !file.startsWith("src/")) continue;
        for (const { functionName, ranges } of functions)
          for (const { startOffset, count } of ranges)
            if (count > 0) calls[`${file}:${startOffset} ${functionName}`] = count;
      }
    });
    return calls;
  }
}

export function sumOf(all: readonly Calls[]): Calls {
  const sum: Calls = {};
  for (const calls of all)
    for (const [called, count] of Object.entries(calls)) sum[called] = (sum[called] ?? 0) + count;
  return sum;
}

/** Files with a function that was called more often than before, with the names of these functions where they have one. */
export function calledMore(calls: Calls, before: Calls): Map<string, string[]> {
  const more = new Map<string, string[]>();
  for (const [called, count] of Object.entries(calls)) {
    if (count <= (before[called] ?? 0)) continue;
    const [, file = "", name = ""] = /^(.*):\d+ (.*)$/u.exec(called) ?? [];
    more.set(file, [...(more.get(file) ?? []), ...(name === "" ? [] : [name])]);
  }
  return more;
}
