import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { type Stream, streams } from "../../crm/model.ts";
import type { RunCounts } from "../../ledger/runs/run-tables.ts";
import type { StreamTally } from "../../ingest/tally.ts";

/** Of one stream: extracted + carried in = unchanged + worked on + quarantined + deferred + rejected + skipped. */
export interface StreamBalance {
  stream: Stream;
  extracted: number;
  takenUpAgain: number;
  unchanged: number;
  workedOn: number;
  quarantined: number;
  deferred: number;
  rejected: number;
  skipped: number;
  adds: boolean;
}

/** planned + carried in = done + rejected + unknown + held + not attempted */
export interface OperationBalance {
  planned: number;
  carriedIn: number;
  done: number;
  rejected: number;
  unknown: number;
  held: number;
  notAttempted: number;
  adds: boolean;
}

export interface Balance {
  streams: StreamBalance[];
  operations: OperationBalance;
  adds: boolean;
}

/** A changed record without an outcome, or an operation without a final state, does not balance. */
export function balanceOf(
  tallies: readonly StreamTally[],
  counts: RunCounts,
  operations: { planned: number; carriedIn: number; states: Record<string, number> },
): Balance {
  const balances = streams.flatMap((stream): StreamBalance[] => {
    const read = tallies.filter((tally) => tally.stream === stream);
    const count = counts.records.find((item) => item.stream === stream);
    if (read.length === 0 && count === undefined) return [];
    const sum = (pick: (tally: StreamTally) => number): number => read.reduce((total, tally) => total + pick(tally), 0);
    const of = {
      stream,
      extracted: sum((tally) => tally.extracted),
      takenUpAgain: count?.takenUpAgain ?? 0,
      unchanged: sum((tally) => tally.unchanged),
      workedOn: count?.workedOn ?? 0,
      quarantined: sum((tally) => tally.quarantined) + (count?.quarantinedLate ?? 0),
      deferred: count?.deferred ?? 0,
      rejected: count?.rejected ?? 0,
      skipped: sum((tally) => tally.skipped),
    };
    const done = of.unchanged + of.workedOn + of.quarantined + of.deferred + of.rejected + of.skipped;
    const isWhole = sum((tally) => tally.changed) === (count?.changed ?? 0);
    return [{ ...of, adds: of.extracted + of.takenUpAgain === done && isWhole }];
  });
  const of = (...states: string[]): number =>
    states.reduce((total, state) => total + (operations.states[state] ?? 0), 0);
  const total: Omit<OperationBalance, "adds"> = {
    planned: operations.planned,
    carriedIn: operations.carriedIn,
    done: of("done"),
    rejected: of("rejected"),
    unknown: of("unknown", "parked", "sending"),
    held: of("held"),
    notAttempted: of("dropped"),
  };
  const ended = total.done + total.rejected + total.unknown + total.held + total.notAttempted;
  const adds = total.planned + total.carriedIn === ended && of("planned", "sending") === 0;
  return {
    streams: balances,
    operations: { ...total, adds },
    adds: adds && balances.every((balance) => balance.adds),
  };
}

export function balanceJson(balance: Balance): Json {
  return {
    streams: balance.streams.map((item): JsonObject => ({ ...item })),
    operations: { ...balance.operations },
    adds: balance.adds,
  };
}
