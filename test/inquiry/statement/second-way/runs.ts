import { writingOperations } from "../../../support/cli.ts";
import type { ToldRun } from "./crm-books.ts";
import type { Computed } from "./whole.ts";

const streams = ["customers", "orders", "staff"] as const;

/** Calls that a run really made to change something; numbers of the pool are no operation of a plan. */
export const sentBy = ({ calls }: ToldRun): number =>
  writingOperations.filter((name) => name !== "E9").reduce((sum, name) => sum + (calls[name] ?? 0), 0);

/** What became of the records and operations of a run, where that is not simply that all was done. */
export type Balance = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The rows of runs: `balance` has what is not 0 beside what was planned and done. */
export function runsOf(told: readonly ToldRun[], balance: (run: ToldRun) => Balance = () => ({})): Computed[] {
  return told.map((run) => ({
    run: run.id,
    at: run.at,
    ended: run.at,
    duration_ms: 0,
    job: run.job,
    kind: "sync",
    trigger: "hand",
    scope: null,
    state: "done",
    exit_code: run.exitCode,
    planned: sentBy(run),
    carried_in: 0,
    done: sentBy(run),
    rejected: 0,
    unknown: 0,
    held: 0,
    not_attempted: 0,
    balances: true,
    sources: ["crm", "hr"],
    ...balance(run)["operations"],
  }));
}

/** Records by stream: what is there for the first time or otherwise than in the run before was planned. */
export function streamsOf(
  told: readonly ToldRun[],
  before: ToldRun | undefined,
  balance: (run: ToldRun) => Balance = () => ({}),
): Computed[] {
  return told.flatMap((run, index) => {
    const last = told[index - 1] ?? before;
    return streams.map((stream) => {
      const known = new Set((last?.[stream] ?? []).map((row) => JSON.stringify(row)));
      const unchanged = run[stream].filter((row) => known.has(JSON.stringify(row))).length;
      return {
        run: run.id,
        at: run.at,
        stream,
        extracted: run[stream].length,
        carried_in: 0,
        unchanged,
        worked_on: run[stream].length - unchanged,
        quarantined: 0,
        deferred: 0,
        rejected: 0,
        skipped: 0,
        balances: true,
        ...balance(run)[stream],
      };
    });
  });
}

/** Readings: every run reads each stream once, whole, and they are numbered one after another. */
export function readsOf(told: readonly ToldRun[], first: number, bad: (run: ToldRun) => number = () => 0): Computed[] {
  return told.flatMap((run, index) =>
    streams.map((stream, place) => ({
      run: run.id,
      read: first + index * streams.length + place,
      at: run.at,
      ended: run.at,
      source: stream === "staff" ? "hr" : "crm",
      stream,
      complete: true,
      whole: true,
      rows: run[stream].length,
      bad: stream === "orders" ? bad(run) : 0,
      skipped: 0,
      problem: null,
    })),
  );
}
