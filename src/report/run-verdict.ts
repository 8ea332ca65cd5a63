import { exitCodes } from "../base/errors.ts";
import type { RunFacts } from "./facts.ts";

/** How a run stands, in a word and a sign that need no colour. */
export interface RunVerdict {
  tone: "good" | "wait" | "bad" | "on" | "stopped";
  sign: string;
  words: string;
}

const byExit: Readonly<Record<number, Omit<RunVerdict, "sign">>> = {
  [exitCodes.changesPending]: { tone: "wait", words: "changes are pending" },
  [exitCodes.recordsRejected]: { tone: "wait", words: "some records are not done" },
  [exitCodes.held]: { tone: "wait", words: "something waits for approval" },
  [exitCodes.unknown]: { tone: "wait", words: "the outcome of some operations is not known" },
  [exitCodes.doesNotBalance]: { tone: "bad", words: "it does not balance" },
  [exitCodes.sourceDown]: { tone: "wait", words: "a source or a service was down or incomplete" },
};

const signs = { good: "✓", wait: "!", bad: "✗", on: "…", stopped: "■" } as const;

/** What a run came to; an end that is none of the known ones is never a good one. */
export function runVerdict({ state, exitCode }: Pick<RunFacts, "state" | "exitCode">): RunVerdict {
  const { tone, words } = verdictOf(state, exitCode);
  return { tone, words, sign: signs[tone] };
}

function verdictOf(state: RunFacts["state"], exitCode: number | null): Omit<RunVerdict, "sign"> {
  if (state === "running") return { tone: "on", words: "it is on" };
  if (state === "failed") return { tone: "bad", words: `it failed${exitCode === null ? "" : ` (exit ${exitCode})`}` };
  if (state === "interrupted") return { tone: "bad", words: "it was interrupted" };
  const known = exitCode === null ? undefined : byExit[exitCode];
  if (known !== undefined) return { ...known, words: `${known.words} (exit ${exitCode})` };
  if (state === "stopped") return { tone: "stopped", words: "it was stopped; the next run goes on" };
  return exitCode === exitCodes.ok
    ? { tone: "good", words: "done" }
    : { tone: "bad", words: `it ended with exit ${exitCode ?? "unknown"}` };
}
