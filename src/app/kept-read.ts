import { toInstant } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Who } from "../base/who.ts";
import type { EndedRead, LongRead, LongReads } from "./long-reads.ts";
import { busyWith } from "./turns.ts";

/** What was asked for last, by whom, and what it came to. */
export interface KeptState<T> {
  by: string;
  startedAt: string;
  /** Undefined while it is in progress. */
  ended?: { at: string; result: T } | { at: string; problem: Problem };
}

/** What a person has read anew when they like, and what it came to the last time, until the program ends. */
export class KeptRead<T> {
  readonly #deps: { reads: LongReads; clock: Clock };
  readonly #read: Omit<LongRead, "signal" | "by">;
  readonly #parse: (ended: EndedRead) => T;
  #state: KeptState<T> | undefined;

  constructor(
    deps: { reads: LongReads; clock: Clock },
    read: Omit<LongRead, "signal" | "by">,
    parse: (ended: EndedRead) => T,
  ) {
    this.#deps = deps;
    this.#read = read;
    this.#parse = parse;
  }

  get state(): KeptState<T> | undefined {
    return this.#state;
  }

  get isInProgress(): boolean {
    return this.#state !== undefined && this.#state.ended === undefined;
  }

  /** Begins it, and does not wait for its end. Throws a Problem while it is in progress. */
  begin(by: Who, signal: AbortSignal): void {
    const { reads, clock } = this.#deps;
    const { what } = this.#read;
    if (this.isInProgress) throw busyWith(what, "it is in progress already");
    const state: KeptState<T> = { by: by.name, startedAt: toInstant(clock.now()) };
    this.#state = state;
    void reads.text({ ...this.#read, by, signal }).then(
      (read) => (state.ended = { at: toInstant(clock.now()), ...this.#resultOf(read) }),
      (thrown: unknown) => (state.ended = { at: toInstant(clock.now()), problem: problemOf(thrown) }),
    );
  }

  #resultOf(read: EndedRead): { result: T } | { problem: Problem } {
    try {
      return { result: this.#parse(read) };
    } catch (thrown) {
      return { problem: problemOf(thrown, read.stderr) };
    }
  }
}

function problemOf(thrown: unknown, said = ""): Problem {
  if (thrown instanceof Problem) return thrown;
  return new Problem({
    code: "reads.failed",
    message: ["the output of the command cannot be used", said].filter((text) => text !== "").join(": "),
    cure: "run the same command in a terminal",
    cause: thrown,
  });
}
