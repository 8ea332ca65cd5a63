import { explainCommand } from "../report/text.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import type { RecordKey } from "../crm/model.ts";
import { journalEntry, maybePaused, type JournalRow } from "../ledger/journal/journal-tables.ts";
import type { OperationState } from "../ledger/journal/tables.ts";
import type { StateChange } from "./model/state.ts";
import type { Effect, Evidence } from "./model/operation-type.ts";
import { typeOf } from "./model/registry.ts";
import { CustomerState, type EngineDependencies } from "./customer.ts";
import { evidenceWith, readEvidence } from "./evidence.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { settleTimeLeftOf } from "./settle-time.ts";

export type PersonsVerdict = "applied" | "not-applied";

export interface Word {
  reason: string;
  by: string;
}

export type DecisionDependencies = Pick<
  EngineDependencies,
  "ledger" | "settings" | "ordersUnseen" | "clock" | "time" | "settle" | "logger"
> & { reader: SnapshotReader };

export interface Decision {
  id: string;
  endpoint: string;
  subject: string;
  customer: RecordKey;
  state: OperationState;
  summary: string;
  showed: JsonObject;
}

/**
 * A person's decision on an unknown outcome. Reads the platform once more: the decision must agree with it. `applied`
 * is refused if the ledger would miss ids, `not-applied` if the effect exists or may still come. Outcome, changes,
 * audit entry and reason are committed together. Throws a Problem (exit code 64) if refused, and a ReadFailure if the
 * platform cannot be read.
 */
export async function decide(
  deps: DecisionDependencies,
  id: string,
  { verdict, reason, by }: Word & { verdict: PersonsVerdict },
  signal?: AbortSignal,
): Promise<Decision> {
  const row = await openOperation(deps, id);
  if (reason.trim() === "") throw refusal("settle.no-reason", row, "a decision needs a reason", "add --reason TEXT");
  // Before the reading: a reading that begins within the settle time does not show later effects.
  const left = await settleTimeLeftOf(deps, row, "person");
  const evidence = await readEvidence(deps, row, new CustomerState(deps, row.operation.customer), signal);
  const conclusion =
    verdict === "applied"
      ? applied(row, evidence)
      : notApplied(deps, row, evidence, { left, undone: await undoneBy(deps, row) });
  const at = toInstant(deps.clock.now());
  // First, so that after a crash in between a run still visits the customer.
  await deps.ledger.records.markPending({ customer: row.operation.customer });
  await deps.ledger.journal.conclude(id, {
    expected: { state: row.state, attempts: row.attempts },
    state: conclusion.state,
    verdict: `a person decided: ${verdict}`,
    message: reason,
    evidence: evidenceWith(row, {
      at,
      seen: evidence.kind !== "not-found" && !saysNothing(evidence),
      detail: evidence.detail,
    }),
    changes: conclusion.changes,
    audit: {
      kind: conclusion.state === "done" ? row.operation.kind : "not-applied",
      body: { ...conclusion.audit, decision: verdict, reason, by, showed: evidence.detail },
    },
  });
  const { endpoint, subject, customer } = row.operation;
  const { state, summary } = conclusion;
  deps.logger.info({ operation: id, endpoint, subject, verdict, by, state }, "a person decided");
  return { id, endpoint, subject, customer, state, summary, showed: evidence.detail };
}

function saysNothing(evidence: Evidence): boolean {
  return evidence.kind === "ambiguous" && evidence.says === "nothing";
}

interface Outcome {
  state: "done" | "dropped";
  changes: readonly StateChange[];
  audit: JsonObject;
  summary: string;
}

function done({ changes, audit }: Effect, summary: string): Outcome {
  return { state: "done", changes, audit, summary };
}

async function openOperation(deps: DecisionDependencies, id: string): Promise<JournalRow> {
  const row = await deps.ledger.journal.byId(id);
  if (row === undefined) {
    throw new Problem({
      code: "settle.unknown-operation",
      message: `there is no operation ${id}`,
      cure: "`crm-sync settle list` lists the operations that need a decision",
      exitCode: exitCodes.usage,
    });
  }
  if (row.state === "sending") {
    throw refusal(
      "settle.on-its-way",
      row,
      "the operation is being sent now, or the program ended while sending it",
      "wait until the run ends. If no run is in progress, start one: it finds the outcome",
    );
  }
  if (row.state !== "unknown" && row.state !== "parked") {
    throw refusal(
      "settle.not-open",
      row,
      `the operation is already ${row.state}`,
      `nothing needs to be decided: \`${explainCommand("customers", row.operation.customer)}\` shows what happened`,
    );
  }
  const { onUnknown, decide } = typeOf(row.operation);
  if (onUnknown.by === "lost") {
    const counted = decide.applied(journalEntry(row), { kind: "not-found", detail: {} });
    if ("code" in counted) throw refusal(counted.code, row, counted.why, counted.cure);
  }
  return row;
}

function applied(row: JournalRow, evidence: Evidence): Outcome {
  if (evidence.kind === "confirmed")
    return done(
      evidence.effect,
      "Recorded: the operation was carried out, as the platform shows. The next run continues from there.",
    );
  const counted = typeOf(row.operation).decide.applied(journalEntry(row), evidence);
  if ("effect" in counted) return done(counted.effect, counted.summary);
  throw refusal(counted.code, row, counted.why, counted.cure);
}

/** The run that the operation was to undo. */
async function undoneBy({ ledger }: DecisionDependencies, { runId }: JournalRow): Promise<Json | undefined> {
  return runId === null ? undefined : (await ledger.runs.byId(runId))?.header["undo"];
}

function notApplied(
  deps: DecisionDependencies,
  row: JournalRow,
  evidence: Evidence,
  { left, undone }: { left: number; undone: Json | undefined },
): Outcome {
  const { onUnknown, decide } = typeOf(row.operation);
  if (evidence.kind === "confirmed") {
    throw refusal(
      "settle.is-there",
      row,
      "the platform shows that the operation was carried out",
      "decide --applied. If the change must not stay, first undo it on the platform, then decide --not-applied",
    );
  }
  if (evidence.kind === "ambiguous" && decide.partCure !== undefined && !saysNothing(evidence))
    throw refusal("settle.is-there-in-part", row, evidence.reason, decide.partCure);
  // Within the settle time the call may still take effect. A new plan would then make the change twice.
  if (left > 0 && (onUnknown.by !== "resend" || row.verdict === maybePaused)) {
    const until = toInstant(deps.clock.now() + left);
    const why = `the call can still take effect until ${until}, so --not-applied is not possible yet`;
    throw refusal("settle.too-early", row, why, "decide again after that time (setting settle.timeMs)");
  }
  const then = (what: string): string =>
    typeof undone === "string"
      ? `No run sends ${what} by itself: \`crm-sync undo ${undone} --out FILE\` plans the changes that are left.`
      : `The next run sends ${what} if the CRM still wants it.`;
  if (evidence.kind === "not-found" && evidence.partEffect !== undefined)
    return done(evidence.partEffect, `Recorded: the part that the platform shows. ${then("the rest")}`);
  const changes = decide.notApplied?.(journalEntry(row));
  const next =
    changes === undefined ? then("it again") : "This ended the request: make a new one if it is still needed.";
  const summary = `Recorded: the operation was not carried out. ${next}`;
  return { state: "dropped", changes: changes ?? [], audit: {}, summary };
}

function refusal(code: string, row: Pick<JournalRow, "id" | "operation">, why: string, cure: string): Problem {
  return new Problem({
    code,
    message: `operation ${row.id} (${row.operation.endpoint} on ${row.operation.subject}): ${why}`,
    cure,
    exitCode: exitCodes.usage,
    place: row.id,
  });
}
