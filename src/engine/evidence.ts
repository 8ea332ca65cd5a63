import { AmbiguousReading } from "../platform/call.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { journalEntry, maybePaused } from "../ledger/journal/journal-tables.ts";
import type { JournalRow } from "../ledger/journal/journal-tables.ts";
import type { Evidence, SettleFacts, Lost } from "./model/operation-type.ts";
import { typeOf } from "./model/registry.ts";
import type { CustomerState, EngineDependencies } from "./customer.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import type { Conclusion } from "../ledger/journal/attempt-tables.ts";
import { pausedCode } from "../ledger/pause.ts";
import type { AttemptFacts } from "../report/facts.ts";
import { deliver } from "./deliver.ts";
import type { AssetNumbers } from "./deliver.ts";
import { settleTimeLeftOf } from "./settle-time.ts";

type Dependencies = Pick<EngineDependencies, "ledger" | "settings" | "ordersUnseen">;

/** The facts that settle an operation of a customer, besides its own journal entry. */
export function settleFacts(deps: Dependencies, knows: Pick<CustomerState, "held">): SettleFacts {
  const { ledger, settings, ordersUnseen } = deps;
  return {
    settings,
    ordersUnseen,
    known: () => knows.held.known,
    privateValue: (marker) => ledger.private.valueOf(marker),
    correlationConfirmed: (correlation) => ledger.state.correlationConfirmed(correlation),
    isShown: (licenseType) => isShown(deps, licenseType),
    orderNow: (order) => ledger.records.orderNow(order),
  };
}

/**
 * Reads the proof of an operation, each time anew: a reading made while the call could still land does not show later
 * effects. Rejects if the platform gave nothing, because a failed reading is not a `not-found`.
 */
export async function readEvidence(
  deps: Dependencies & { reader: SnapshotReader },
  row: JournalRow,
  knows: Pick<CustomerState, "held">,
  signal?: AbortSignal,
): Promise<Evidence> {
  const { operation } = row;
  const entry = journalEntry(row);
  const { onUnknown } = typeOf(operation);
  const observe = onUnknown.by === "observe" || onUnknown.by === "resend" ? onUnknown.observe : undefined;
  if (observe === undefined) return { kind: "not-found", detail: { call: "none: no operation reads it back" } };
  try {
    return await observe(entry, deps.reader.of(operation.customer, signal), settleFacts(deps, knows));
  } catch (error) {
    if (!(error instanceof AmbiguousReading)) throw error;
    return {
      kind: "ambiguous",
      reason: `${error.message}; ${error.cure}`,
      detail: { ambiguous: error.message },
      says: "nothing",
    };
  }
}

/** The steps that end an operation whose kind needs no reading. */
export interface SettleSteps {
  conclude: (open: Pick<Open, "row" | "knows">, conclusion: Omit<Conclusion, "expected">) => Promise<void>;
  park: (open: Open, reason: string, detail: JsonObject) => Promise<Settled>;
}

/**
 * Settles an operation of a kind that no reading can settle. A call that sets a state is sent again, a lost one is
 * recorded as lost, and a non-repeatable one needs a person. Undefined for a kind that a reading can settle.
 */
export async function settleWithoutReading(
  deps: EngineDependencies,
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

/** Its result is lost with its answer: nothing can find it, and nothing is sent again. */
async function lost(
  deps: EngineDependencies,
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
 * Sends a call that sets a state again with the same value, as often as its answer is lost (A3). For complete answers
 * that give no outcome, each kind has its own limit.
 */
async function setAgain(
  deps: EngineDependencies,
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
  deps: EngineDependencies,
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

/** A complete success answer without an error code that does not say whether the operation was done. */
function isOddAnswer({ outcome, httpStatus, code }: AttemptFacts): boolean {
  return outcome === "unknown" && httpStatus === 200 && code === null;
}

/** The result of settling an operation. */
export type Settled =
  | { kind: "done"; id: string }
  /** Proven or decided not to be applied, or rejected when sent again; the customer is planned again. */
  | { kind: "dropped"; id: string }
  /** The service had rejected it, and the platform shows no effect: it is not sent again unchanged. */
  | { kind: "rejected"; id: string; code: string; reason: string }
  | { kind: "waiting"; id: string; until: string }
  | { kind: "parked"; id: string; reason: string }
  | { kind: "unreadable"; id: string; reason: string }
  /** It must be sent again, but crm-sync is paused. */
  | { kind: "paused"; id: string };

/** An operation whose outcome is open, and the run that settles it. */
export interface Open {
  row: JournalRow;
  runId: string | null;
  signal: AbortSignal | undefined;
  knows: CustomerState;
}

export function stillParked(row: JournalRow): Settled {
  return { kind: "parked", id: row.id, reason: row.outcomeMessage ?? "waits for a person" };
}

/** The fields that name an operation in a log line. */
export function named(row: JournalRow): { operation: string; endpoint: string; subject: string } {
  return { operation: row.id, endpoint: row.operation.endpoint, subject: row.operation.subject };
}

/**
 * Whether the platform is known to show assets of a licence type, by the settings or by earlier readings (A43). False
 * if readings contradicted this.
 */
export async function isShown(
  { settings, ledger }: Pick<EngineDependencies, "settings" | "ledger">,
  licenseType: string,
): Promise<boolean> {
  const found = ledger.assumptions.contradictions.get("A43");
  if (found !== undefined && (found.about.length === 0 || found.about.includes(licenseType))) return false;
  const types: readonly string[] | undefined = settings.visibleLicenseTypes;
  return types === undefined ? await ledger.state.licenceTypeShown(licenseType) : types.includes(licenseType);
}
