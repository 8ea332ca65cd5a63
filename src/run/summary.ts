import { toJson } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import type { ClockDoubt } from "../base/trusted-time.ts";
import type { RunState } from "../ledger/runs/tables.ts";
import { openCount } from "../report/open.ts";
import type { OpenRecords } from "../report/open.ts";
import type { Balance } from "./balance.ts";
import type { CanaryTranche } from "./canary.ts";
import { countsOf } from "../ingest/tally.ts";
import type { StreamTally } from "../ingest/tally.ts";
import type { WaitingHold } from "./judgement.ts";

/** What a sync run came to. */
export interface RunSummary {
  run: string;
  job: string;
  state: RunState;
  exitCode: ExitCode;
  balance: Balance;
  sources: StreamTally[];
  customers: {
    worked: number;
    finished: number;
    waiting: number;
    parked: number;
    rejected: number;
    /** Whom a service gave too little for. */
    unreadable: number;
    /** At whom this program failed. */
    defects: number;
    stale: number;
  };
  /** Customers of whom nothing was applied, since the saved plan no longer fits, and what moved. */
  stale: { customer: string; moved: readonly string[] }[];
  /** What waits for approval when the run ends, also from runs before. */
  held: WaitingHold[];
  /** How many operations stay undone because a person rejected them. */
  rejected: number;
  /** The shares of the enterprises that went first; the last one is where the run stopped, if something is wrong. */
  canary: readonly CanaryTranche[];
  /** Something was not sent because of a pause. */
  paused: boolean;
  openOperations: number;
  /** Every record of the job's streams that is not done when the run ends, whichever run met it first. */
  open: OpenRecords[];
  /**
   * How many things the last readings showed otherwise than they were sent, whichever run read them; `undone`: how many
   * of these are there twice, or after a call removed them.
   */
  notAsLeft: { differing: number; undone: number };
  /** The run was asked for a record that no source has given. */
  unknownRecord: Problem | undefined;
  /** Why the clock was not trusted: nothing was ended or removed by time. */
  clock: ClockDoubt | undefined;
  cutOff: string[];
}

/** The worst thing that is true of a run decides its exit code. */
export function exitCodeOf(summary: RunSummary, failure: unknown): ExitCode {
  if (!summary.balance.adds) return exitCodes.doesNotBalance;
  if (failure instanceof Problem && failure.exitCode === exitCodes.ledgerRefused) return failure.exitCode;
  if (summary.openOperations > 0) return exitCodes.unknown;
  if (summary.held.length > 0 || summary.paused) return exitCodes.held;
  if (failure instanceof Problem && failure.exitCode !== exitCodes.other) return failure.exitCode;
  if (failure !== undefined || summary.state === "stopped") return exitCodes.other;
  const sourceDown = summary.sources.some(
    (tally) => tally.problem !== undefined || tally.doubt !== undefined || !tally.complete,
  );
  const serviceDown = summary.customers.unreadable > 0 || summary.clock?.isServiceDown === true;
  if (sourceDown || serviceDown) return exitCodes.sourceDown;
  if (summary.customers.defects > 0) return exitCodes.other;
  if (summary.canary.some(({ wrong }) => wrong.length > 0)) return exitCodes.recordsRejected;
  const { stale, waiting } = summary.customers;
  if (
    summary.clock !== undefined ||
    openCount(summary.open) > 0 ||
    summary.customers.rejected > 0 ||
    stale > 0 ||
    waiting > 0 ||
    summary.notAsLeft.undone > 0
  )
    return exitCodes.recordsRejected;
  return exitCodes.ok;
}

/** A summary as the ledger keeps it. */
export function summaryJson(summary: RunSummary): Json {
  return {
    sources: summary.sources.map((tally) => ({
      ...countsOf(tally),
      complete: tally.complete,
      doubt: tally.doubt?.message ?? null,
      problem: tally.problem?.message ?? null,
    })),
    customers: { ...summary.customers },
    ...(summary.stale.length > 0 && {
      stale: summary.stale.map(({ customer, moved }) => ({ customer, moved: [...moved] })),
    }),
    held: summary.held.map((hold) => ({ ...hold })),
    rejected: summary.rejected,
    ...(summary.canary.length > 0 && { canary: toJson(summary.canary) }),
    openOperations: summary.openOperations,
    notAsLeft: { ...summary.notAsLeft },
    ...(summary.clock !== undefined && { clock: { ...summary.clock } }),
    open: summary.open.map((group) => ({ ...group, examples: group.examples.map((example) => ({ ...example })) })),
  };
}
