import type { WriteCall } from "../platform/services.ts";
import type { WriteOutcome } from "../http/call.ts";
import { type Json, type JsonObject, isJsonObject } from "../base/canonical-json.ts";
import { serviceWords } from "../contract/answer-json.ts";
import { meaningOf } from "../contract/codes.ts";
import type { Conclusion, AttemptEnd } from "../ledger/journal/journal-tables.ts";
import type { Concluded, RefusedPerson } from "./model/operation-type.ts";
import type { Operation } from "./model/operation.ts";
import { typeOf } from "./model/registry.ts";
import type { CustomerState, EngineDependencies } from "./customer.ts";
import { refusedPeople, refusedWith, type Refused } from "./refusal.ts";
import { landsWithin, settleTimeBegins } from "./settle-time.ts";
import { Problem } from "../base/errors.ts";
import { serviceNameOf } from "../contract/endpoints.ts";
import { metByRefusal, type AssumptionMet } from "./model/assumptions-met.ts";
import { restsOf } from "./plan/rejections.ts";

/** A writing call leaves only with a permit, and after its intent is on disk. */
export type SendPermit = Required<Pick<WriteCall, "beforeSending" | "recorded">>;

/**
 * One attempt in this order: permit, intent, first byte, outcome. Without a permit `record` gets no id, and nothing was
 * written or sent. The permit returns once `record` has begun: nearly always the outcome is then in the writer's queue,
 * ahead of the next intent, and at most `callsAtOnce` operations are `sending` on disk. Evidence against an assumption
 * is committed before its outcome.
 */
export async function sendOnce<Sent, Recorded>(
  intend: (acceptedUntil: number | undefined) => Promise<string>,
  send: (permit: SendPermit) => Promise<Sent>,
  record: (id: string | undefined, sent: Sent) => Promise<Recorded>,
): Promise<Recorded> {
  const recorded = Promise.withResolvers<void>();
  const intent: { id: string | undefined } = { id: undefined };
  const beforeSending = (acceptedUntil?: number): Promise<void> =>
    intend(acceptedUntil).then((id) => {
      intent.id = id;
    });
  try {
    const sent = await send({ beforeSending, recorded: recorded.promise });
    // Not awaited: the permit returns when the outcome is handed over, not when it is committed.
    return record(intent.id, sent);
  } finally {
    recorded.resolve();
  }
}

export type Delivery =
  | { kind: "done"; refused: RefusedPerson[] }
  | ({ kind: "rejected"; answered: string } & Pick<Refused, "code" | "reason" | "scope" | "shared">)
  | { kind: "unknown"; id: string }
  | { kind: "parked"; id: string; reason: string }
  /** No byte left. Without an `id` there was no permit, and no intent exists. */
  | { kind: "not-sent"; id: string | undefined; reason: string }
  /** The run was stopped: nothing was recorded or sent. */
  | { kind: "stopped" }
  /** Nothing was recorded or sent: a needed value is unknown or unusable. */
  | ({ kind: "blocked" } & Unready);

export interface Unready {
  code: string;
  reason: string;
  unreached?: true;
}

export interface Existing {
  id: string;
  wireHash: string | null;
  context: JsonObject;
  settleAfter: string | null;
}

/** `existing`: it was sent before. */
export interface Sent {
  operation: Operation;
  id: string;
  state: CustomerState;
  existing: Existing | undefined;
  ahead?: boolean | undefined;
}

/** `said`: keeps only words of the service that surely name no person. */
type Answered = Sent & { said: (words: string) => string };

type End = ReturnType<typeof attemptEnd>;

/** Records outcome, changes and audit entry in one transaction. */
export function recordOutcome(
  deps: EngineDependencies,
  sent: Answered,
  outcome: WriteOutcome<unknown>,
  conclude: (id: string) => Concluded,
): Promise<Delivery> {
  const concluded = "data" in outcome || outcome.kind === "already" ? conclude(sent.id) : undefined;
  // Before the outcome: after a kill in between, the operation is in doubt but the contradiction is known.
  const met = metByOutcome(sent.operation, outcome, { concluded, repeated: sent.existing !== undefined });
  const record = (): Promise<Delivery> => recordAs(deps, sent, outcome, () => concluded ?? conclude(sent.id));
  return met.length === 0 ? record() : deps.ledger.assumptions.met(met, sent.id).then(record);
}

function recordAs(
  deps: EngineDependencies,
  sent: Answered,
  outcome: WriteOutcome<unknown>,
  concluded: () => Concluded,
): Promise<Delivery> {
  const attempt = attemptEnd(outcome);
  switch (outcome.kind) {
    case "not-sent":
      return recordNotSent(sent, attempt, outcome.reason);
    case "rejected":
      return recordRejected(deps, sent, outcome, { attempt, answer: keptAnswer(outcome.raw) });
    case "unknown":
      return doubt(deps, sent, withWords(sent, attempt, outcome.raw), keptAnswer(outcome.raw));
    default:
      return recordDone(deps, sent, concluded(), { attempt, answer: () => keptAnswer(outcome.raw) });
  }
}

function withWords({ said }: Answered, attempt: End, raw: Json | undefined): End {
  const words = attempt.code === undefined || raw === undefined ? "" : said(serviceWords(raw));
  return words === "" ? attempt : { ...attempt, detail: `${attempt.detail ?? ""} (the service says: ${words})` };
}

async function recordDone(
  deps: EngineDependencies,
  sent: Answered,
  concluded: Concluded,
  { attempt, answer }: { attempt: End; answer: () => string | undefined },
): Promise<Delivery> {
  const { operation, id, state, ahead = false } = sent;
  const parked = (why: string): Promise<Delivery> => park(deps, sent, why, { attempt, answer: answer() });
  if ("contradiction" in concluded) return await parked(concluded.contradiction);
  if ("doubt" in concluded)
    return await doubt(deps, sent, { ...attempt, outcome: "unknown", detail: concluded.doubt }, answer());
  const refused = concluded.refused.map((person) => ({ ...person, message: sent.said(person.message) }));
  const conclusion: Conclusion = {
    state: "done",
    attempt,
    // The service's words about rejected people may name anybody.
    answer: refused.length > 0 ? answer() : undefined,
    changes: concluded.changes,
    rejections: refused.length === 0 ? undefined : refusedPeople(deps, operation, refused),
    audit: { kind: operation.kind, body: concluded.audit },
  };
  const failed = async (error: unknown): Promise<void> => {
    if (isContradiction(error)) await parked(error.message);
  };
  try {
    if (!ahead || !state.concludeAhead(operation, id, conclusion, failed))
      await state.conclude(operation, id, conclusion);
  } catch (error) {
    if (!isContradiction(error)) throw error;
    return await parked(error.message);
  }
  return { kind: "done", refused };
}

/** If a repeated call did not leave, the unknown outcome of the earlier attempt remains. */
async function recordNotSent(
  { operation, id, state, existing }: Sent,
  attempt: End,
  reason: string,
): Promise<Delivery> {
  await state.conclude(operation, id, {
    ...(existing === undefined
      ? { state: "dropped", verdict: "not sent", message: reason }
      : {
          state: "unknown",
          settleAfter: existing.settleAfter ?? undefined,
          message: `sent again, it did not leave: ${reason}`,
        }),
    attempt,
    changes: [],
    audit: { kind: "not-sent", body: { reason } },
  });
  return { kind: "not-sent", id, reason };
}

async function recordRejected(
  deps: EngineDependencies,
  sent: Answered,
  { code, raw }: Extract<WriteOutcome<unknown>, { kind: "rejected" }>,
  { attempt, answer }: { attempt: End; answer: string | undefined },
): Promise<Delivery> {
  const { operation, id, state, existing } = sent;
  const { endpoint, subject } = operation;
  if (existing !== undefined && typeOf(operation).onUnknown.by !== "resend") {
    const reason = `sent again, it was rejected with ${code}; the attempt before it may have been applied`;
    return await park(deps, sent, reason, { attempt, code, answer });
  }
  const { meaning, cure } = meaningOf(code, endpoint);
  const { rejections, ...refused } = refusedWith(deps, operation, code, sent.said(serviceWords(raw)));
  await state.conclude(operation, id, {
    state: "rejected",
    attempt,
    code,
    message: meaning,
    answer,
    changes: [],
    rejections,
    audit: { kind: "rejected", body: { meaning } },
  });
  deps.logger.warn({ operation: id, endpoint, subject, code, cure }, "operation rejected");
  return { kind: "rejected", answered: code, ...refused };
}

async function doubt(
  deps: EngineDependencies,
  { operation, id, state }: Sent,
  attempt: End,
  answer: string | undefined,
): Promise<Delivery> {
  const { endpoint, subject } = operation;
  const { onUnknown } = typeOf(operation);
  if (onUnknown.by === "lost") {
    const { verdict, audit, message } = onUnknown.record(operation.payload);
    const { code, detail: reason } = attempt;
    const kept = { verdict, code, message: reason, answer };
    const told = { kind: audit.kind, body: { ...audit.body, reason } };
    await state.conclude(operation, id, { state: "dropped", attempt, ...kept, changes: [], audit: told });
    deps.logger.warn({ operation: id, ...told.body, code }, message);
    return { kind: "unknown", id };
  }
  const settleMs = landsWithin(operation, deps.settle);
  settleTimeBegins(deps, { id, subject }, settleMs);
  await state.conclude(operation, id, {
    state: "unknown",
    attempt,
    settleMs,
    code: attempt.code,
    message: attempt.detail,
    answer,
    changes: [],
    audit: { kind: "unknown", body: { reason: attempt.detail } },
  });
  deps.logger.warn({ operation: id, endpoint, subject, reason: attempt.detail }, "outcome unknown");
  return { kind: "unknown", id };
}

export async function park(
  deps: EngineDependencies,
  { operation, id, state }: Pick<Sent, "operation" | "id" | "state">,
  reason: string,
  answered: { attempt?: End; code?: string; answer?: string | undefined } = {},
): Promise<Delivery> {
  const audit: { kind: string; body: JsonObject } = { kind: "parked", body: { reason } };
  await state.conclude(operation, id, {
    state: "parked",
    ...answered,
    message: reason,
    verdict: "waits for a person",
    changes: [],
    audit,
  });
  deps.logger.error({ operation: id, reason }, "operation parked");
  return { kind: "parked", id, reason };
}

export function attemptEnd(outcome: WriteOutcome<unknown>): AttemptEnd {
  switch (outcome.kind) {
    case "done":
      return { outcome: "done", httpStatus: outcome.status };
    case "partial":
    case "already":
      return { outcome: "done", httpStatus: outcome.status, code: outcome.code };
    case "rejected":
      return { outcome: "rejected", httpStatus: outcome.status, code: outcome.code };
    case "not-sent":
      return { outcome: "not-sent", detail: outcome.reason };
    case "unknown": {
      const { reason, status, code, raw } = outcome;
      // A truncated answer is no answer: only the reason names its status.
      return raw !== undefined || status === undefined
        ? { outcome: "unknown", httpStatus: status, code, detail: reason }
        : { outcome: "unknown", code, detail: `${reason}, after HTTP ${status}` };
    }
  }
}

export function keptAnswer(raw: Json | undefined): string | undefined {
  return raw === undefined ? undefined : JSON.stringify(raw);
}

/** The ledger cannot hold the result of a proven operation, so a person must decide. */
export function isContradiction(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "ledger.contradiction";
}

/** The status of a business exception (R2). */
const businessException = 299;

export function metByOutcome(
  operation: Operation,
  outcome: WriteOutcome<unknown>,
  { concluded, repeated }: { concluded: Concluded | undefined; repeated: boolean },
): AssumptionMet[] {
  const { endpoint } = operation;
  switch (outcome.kind) {
    case "not-sent":
      return [];
    case "rejected": {
      const { code, raw } = outcome;
      const words = serviceWords(raw);
      return metByRefusal(restsOf(operation), { endpoint, code, words });
    }
    case "unknown":
      return metByDoubt(operation, outcome);
    default: {
      const shown = concluded?.met ?? [];
      const again = repeated && concluded !== undefined && "changes" in concluded ? concluded.metIfRepeated : undefined;
      return [...shown, ...(again ?? [])];
    }
  }
}

function metByDoubt(
  operation: Operation,
  outcome: Extract<WriteOutcome<unknown>, { kind: "unknown" }>,
): AssumptionMet[] {
  const { endpoint } = operation;
  const { code, status, raw } = outcome;
  if (code !== undefined && !meaningOf(code, endpoint).listed) {
    const named = /^\w{1,20}$/u.test(code) ? code : "of an odd form";
    const evidence = `the ${serviceNameOf(endpoint)} answered ${endpoint} with the code ${named}, which its contract does not list`;
    return [{ row: "A2", about: endpoint, evidence }];
  }
  if (raw === undefined || !isJsonObject(raw) || raw["code"] !== 0) return [];
  if (status === businessException) {
    const evidence = `${endpoint} answered with code 0 under HTTP 299`;
    return [{ row: "A1", about: endpoint, evidence }];
  }
  return typeOf(operation).can.assumes?.oddData?.(raw["data"] ?? null) ?? [];
}
