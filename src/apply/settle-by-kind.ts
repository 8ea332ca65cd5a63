import type { JsonObject } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import type { Conclusion } from "../ledger/journal/journal.ts";
import { journalEntry, maybePaused } from "../ledger/journal/journal-tables.ts";
import { pausedCode } from "../ledger/pause.ts";
import type { Lost } from "../engine/operation-type.ts";
import { typeOf } from "../engine/registry.ts";
import type { AttemptFacts } from "../report/facts.ts";
import { deliver } from "./deliver.ts";
import type { AssetNumbers } from "./deliver.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { settleTimeLeftOf } from "./settle-time.ts";
import { named, stillParked } from "./settled.ts";
import type { Open, Settled } from "./settled.ts";

/** What settling does with an operation whose kind needs no reading for it. */
export interface SettleSteps {
  conclude: (open: Pick<Open, "row" | "knows">, conclusion: Omit<Conclusion, "expected">) => Promise<void>;
  park: (open: Open, reason: string, detail: JsonObject) => Promise<Settled>;
}

/**
 * Settles an operation of a kind that no reading tells of: what sets a state is sent again, what is lost is recorded
 * so, what must not be sent twice waits for a person. Undefined for a kind that is read.
 */
export async function settleWithoutReading(
  deps: ApplyDependencies,
  pool: AssetNumbers,
  open: Open,
  steps: SettleSteps,
): Promise<Settled | undefined> {
  const { row } = open;
  const { onUnknown } = typeOf(row.operation);
  if (onUnknown.by === "lost") return await lost(deps, open, steps, onUnknown.record(row.operation.payload));
  if (onUnknown.by === "observe") return undefined;
  if (row.state === "parked") return stillParked(row);
  if (onUnknown.by === "ask") return await steps.park(open, notTwice, { call: "none: no operation reads it back" });
  return await setAgain(deps, pool, open, steps);
}

const notTwice =
  "its outcome is not known, no call reads it back, and it is never sent a second time by itself; a person decides";

/** What it brought is lost with its answer: nothing finds out, and nothing is sent again. */
async function lost(
  deps: ApplyDependencies,
  open: Open,
  { conclude }: SettleSteps,
  { verdict, audit, message }: Lost,
): Promise<Settled> {
  const { row } = open;
  await conclude(open, { state: "dropped", verdict, changes: [], audit });
  deps.logger.warn({ operation: row.id, ...audit.body }, message);
  return { kind: "dropped", id: row.id };
}

/**
 * What sets a state is sent again with the same value, as often as its answer is lost (A3). Where answers come that
 * never are about it, each kind has its own bound.
 */
async function setAgain(
  deps: ApplyDependencies,
  pool: AssetNumbers,
  open: Open,
  { park }: SettleSteps,
): Promise<Settled> {
  const { id, operation, verdict } = open.row;
  const left = verdict === maybePaused ? await settleTimeLeftOf(deps, open.row) : 0;
  if (left > 0) return { kind: "waiting", id, until: toInstant(deps.clock.now() + left) };
  const { onUnknown } = typeOf(operation);
  const most = onUnknown.by === "resend" ? (onUnknown.maxOddAnswers ?? Infinity) : Infinity;
  const odd = (await deps.ledger.journal.attempts(id)).filter(isOddAnswer);
  if (odd.length < most) return await sendAgain(deps, pool, open, "sets a state: the same value is sent again");
  const said = odd.at(-1)?.detail ?? "";
  const reason =
    `it was answered ${odd.length} times with what does not say what became of it (${said}); ` +
    "it is not sent again before a person has decided";
  return await park(open, reason, { answered: odd.length });
}

/** Sends an operation of the journal once more, with the bytes of its intent. */
export async function sendAgain(
  deps: ApplyDependencies,
  pool: AssetNumbers,
  { row, runId, signal, knows }: Open,
  why: string,
): Promise<Settled> {
  deps.logger.info({ ...named(row), why }, "sent again");
  const delivery = await deliver(deps, pool, row.operation, {
    runId: runId ?? row.runId,
    state: knows,
    existing: {
      id: row.id,
      wireHash: row.wireHash,
      context: journalEntry(row).context,
      settleAfter: row.settleAfter,
    },
    signal,
  });
  switch (delivery.kind) {
    case "done":
      return { kind: "done", id: row.id };
    case "rejected":
      return { kind: "dropped", id: row.id };
    case "unknown":
      return { kind: "waiting", id: row.id, until: toInstant(deps.clock.now() + deps.settle.timeMs) };
    case "parked":
      return { kind: "parked", id: row.id, reason: delivery.reason };
    case "stopped":
      return { kind: "unreadable", id: row.id, reason: "the run was stopped" };
    case "not-sent":
    case "blocked":
      if (delivery.kind === "blocked" && delivery.code === pausedCode) return { kind: "paused", id: row.id };
      return { kind: "unreadable", id: row.id, reason: delivery.reason };
  }
}

/** An answer that came whole, a success without the code of an error, and does not say what became of what was sent. */
function isOddAnswer({ outcome, httpStatus, code }: AttemptFacts): boolean {
  return outcome === "unknown" && httpStatus === 200 && code === null;
}
