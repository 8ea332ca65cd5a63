import type { JsonObject } from "../base/canonical-json.ts";
import { sha256 } from "../base/canonical-json.ts";
import { Problem } from "../base/errors.ts";
import { serviceWords } from "../contract/answer-json.ts";
import { meaningOf } from "../contract/codes.ts";
import { wireText } from "../contract/wire-body.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { scrub } from "../http/redaction.ts";
import { uniquenessCodes } from "../ledger/journal/uniqueness.ts";
import { bind } from "../plan/bind.ts";
import type { Operation } from "../operation/operation.ts";
import type { WriteOutcome } from "../platform/call.ts";
import { bindingsFrom } from "./bindings.ts";
import type { Concluded, RefusedPerson } from "../operation/kind.ts";
import { kindOf } from "../operation/registry.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { attemptEnd, isContradiction, keptAnswer } from "./attempt-end.ts";
import { generatePassword } from "./password.ts";
import type { PlannedAsset } from "../operation/asset-numbers.ts";
import { refusedPeople, refusedWith } from "./refusal.ts";
import type { Refused } from "./refusal.ts";
import { scrubbed, textsOf } from "./scrubbed.ts";
import { sendOnce } from "./sending.ts";
import { settleTimeBegins } from "./settle-time.ts";

/** What became of one operation that was to be carried out. */
export type Delivery =
  | { kind: "done"; refused: RefusedPerson[] }
  /** `answered`: the code that the service answered with. */
  | ({ kind: "rejected"; answered: string } & Pick<Refused, "code" | "reason" | "scope" | "shared">)
  | { kind: "unknown"; id: string }
  | { kind: "parked"; id: string; reason: string }
  /** Not one byte left. Without an `id` there was no permit, and the journal holds no intent of it. */
  | { kind: "not-sent"; id: string | undefined; reason: string }
  /** The run was stopped before it: nothing was recorded or sent. */
  | { kind: "stopped" }
  /** Nothing was recorded or sent: something the payload needs is not known or not usable. */
  | { kind: "blocked"; code: string; reason: string };

/** Why an order has no numbers yet. */
export interface Unready {
  code: string;
  reason: string;
}

/** Gives the assets of an order their numbers, for good. */
export interface AssetNumbers {
  /** Fixes a number to every unit of the order's assets. Returns why not, or undefined. */
  fix(order: RecordKey, assets: readonly PlannedAsset[], signal: AbortSignal | undefined): Promise<Unready | undefined>;
}

/** An operation of the journal whose outcome is unknown and that is sent again. */
interface Existing {
  id: string;
  wireHash: string | null;
  context: JsonObject;
  settleAfter: string | null;
}

/**
 * Carries one operation out: numbers, binding, permit, intent, one attempt, outcome. `existing` sends an operation of
 * the journal again; its payload must bind to the very bytes of the intent, else nothing is sent and it is parked.
 * `shownBefore` are the members that M5 showed (M1 only).
 */
export async function deliver(
  deps: ApplyDependencies,
  pool: AssetNumbers,
  operation: Operation,
  options: {
    runId: string | null;
    existing?: Existing | undefined;
    plannedId?: string | undefined;
    shownBefore?: readonly string[] | undefined;
    signal?: AbortSignal | undefined;
  },
): Promise<Delivery> {
  const { ledger } = deps;
  const kind = kindOf(operation);
  const assets = kind.assets(operation);
  if (assets.length > 0 && options.existing === undefined) {
    const block = await fixNumbers(pool, operation, assets, options.signal);
    if (options.signal?.aborted === true) return { kind: "stopped" };
    if (block !== undefined) return { kind: "blocked", ...block };
  }
  const known = await ledger.state.payloadFacts(operation.customer);
  const passwords = await initialPasswords(deps, operation);
  const bindings = bindingsFrom(known, deps.settings, {
    privateValue: (marker) => ledger.private.valueOf(marker),
    initialPassword: (staff) => passwords.values.get(staff),
  });
  const bound = bind(operation.payload, bindings);
  const target = bind(operation.target, bindings);
  if (!bound.ok || !target.ok) {
    const missing = [...(bound.ok ? [] : bound.missing), ...(target.ok ? [] : target.missing)];
    if (options.existing !== undefined)
      return await park(deps, options.existing.id, "the payload cannot be made again: a private value was erased");
    const names = [...new Set(missing.map((item) => ("$ref" in item ? item.$ref : `${item.$private} ${item.field}`)))];
    return { kind: "blocked", code: "payload.incomplete", reason: `not known yet or erased: ${names.join(", ")}` };
  }
  const body = wireText(bound.wire);
  const wireHash = sha256(JSON.stringify([operation.endpoint, target.wire, body]));
  if (options.existing !== undefined && options.existing.wireHash !== wireHash) {
    return await park(
      deps,
      options.existing.id,
      "the payload made now differs from the one of the intent, so nothing was sent",
    );
  }
  const prepared = kind.prepare({
    operation,
    wire: bound.wire,
    target: target.wire,
    facts: known,
    settings: deps.settings,
    shownBefore: options.shownBefore ?? [],
    known: () => ledger.state.known(operation.customer),
  });
  if ("code" in prepared) {
    if (options.existing !== undefined) return await park(deps, options.existing.id, prepared.reason);
    return { kind: "blocked", ...prepared };
  }
  const nonce = deps.random.hex(16);
  try {
    return await sendOnce(
      () =>
        ledger.journal.intend({
          operation,
          id: options.existing?.id ?? options.plannedId,
          runId: options.runId,
          wireHash,
          nonce,
          context: options.existing?.context ?? prepared.context,
          sealed: passwords.toSeal,
        }),
      async (permit) => {
        const customer = kind.isOfCustomer ? formatKey(operation.customer) : undefined;
        const call = { nonce, body, signal: options.signal, customer, ...permit };
        return await scrubbed(deps, operation.customer, bound.wire, await prepared.send(deps.platform, call));
      },
      async (id, { outcome, conclude }) => {
        if (id !== undefined) {
          const sent = textsOf(bound.wire);
          return await record(deps, operation, id, outcome, conclude, { existing: options.existing, sent });
        }
        if (outcome.kind !== "not-sent")
          throw new Error(`${operation.endpoint} on ${operation.subject} left without an intent`);
        if (options.signal?.aborted === true) return { kind: "stopped" };
        return { kind: "not-sent", id, reason: outcome.reason };
      },
    );
  } catch (error) {
    if (!(error instanceof Problem) || !uniquenessCodes.some((code) => code === error.code)) throw error;
    return { kind: "blocked", code: error.code, reason: `${error.message}; ${error.cure}` };
  }
}

async function fixNumbers(
  pool: AssetNumbers,
  operation: Operation,
  assets: readonly PlannedAsset[],
  signal: AbortSignal | undefined,
): Promise<Unready | undefined> {
  const [order] = operation.records;
  if (order === undefined) return { code: "order.unnamed", reason: "the operation names no order" };
  return await pool.fix(order, assets, signal);
}

async function initialPasswords(
  deps: ApplyDependencies,
  operation: Operation,
): Promise<{
  values: Map<string, string>;
  toSeal: { ref: string; version: number; salt: string; values: JsonObject }[];
}> {
  const values = new Map<string, string>();
  const toSeal: { ref: string; version: number; salt: string; values: JsonObject }[] = [];
  if (deps.settings.passwordSource !== "generate") return { values, toSeal };
  for (const staff of kindOf(operation).newAccounts(operation)) {
    const key = formatKey(staff);
    const ref = `initial-password/${key}`;
    const kept = await deps.ledger.private.latestSealed(ref);
    const password = kept.values?.["password"];
    // One that the service may have refused for its length is not sent again: the length is a setting.
    if (typeof password === "string" && password.length === deps.settings.generatedPasswordLength) {
      values.set(key, password);
      continue;
    }
    const generated = generatePassword(deps.settings.generatedPasswordLength, deps.random);
    values.set(key, generated);
    toSeal.push({ ref, version: kept.nextVersion, salt: deps.random.hex(16), values: { password: generated } });
  }
  return { values, toSeal };
}

async function record(
  deps: ApplyDependencies,
  operation: Operation,
  id: string,
  outcome: WriteOutcome<unknown>,
  conclude: (id: string) => Concluded,
  options: { existing: Existing | undefined; sent: readonly string[] },
): Promise<Delivery> {
  const { existing } = options;
  const attempt = attemptEnd(outcome);
  if (outcome.kind === "done" || outcome.kind === "partial" || outcome.kind === "already") {
    const concluded = conclude(id);
    if ("contradiction" in concluded) {
      const answer = keptAnswer("raw" in outcome ? outcome.raw : undefined);
      return await park(deps, id, concluded.contradiction, { attempt, answer });
    }
    if (!("doubt" in concluded)) {
      try {
        await deps.ledger.journal.conclude(id, {
          state: "done",
          attempt,
          changes: concluded.changes,
          rejections: refusedPeople(deps, operation, concluded.refused),
          audit: { kind: operation.kind, body: concluded.audit },
        });
      } catch (error) {
        if (!isContradiction(error)) throw error;
        const answer = keptAnswer("raw" in outcome ? outcome.raw : undefined);
        return await park(deps, id, error.message, { attempt, answer });
      }
      return { kind: "done", refused: concluded.refused };
    }
    return await doubt(
      deps,
      operation,
      id,
      { ...attempt, outcome: "unknown", detail: concluded.doubt },
      keptAnswer("raw" in outcome ? outcome.raw : undefined),
    );
  }
  if (outcome.kind === "not-sent" && existing !== undefined) {
    return await stillUnknown(deps, id, existing, attempt, outcome.reason);
  }
  if (outcome.kind === "not-sent") {
    await deps.ledger.journal.conclude(id, {
      state: "dropped",
      attempt,
      verdict: "not sent",
      message: outcome.reason,
      changes: [],
      audit: { kind: "not-sent", body: { reason: outcome.reason } },
    });
    return { kind: "not-sent", id, reason: outcome.reason };
  }
  if (outcome.kind === "rejected") {
    if (existing !== undefined && kindOf(operation).whenUnknown !== "send-again") {
      const reason = `sent again, it was rejected with ${outcome.code}; the attempt before it may have been applied`;
      return await park(deps, id, reason, { attempt, code: outcome.code, answer: keptAnswer(outcome.raw) });
    }
    const { meaning, cure } = meaningOf(outcome.code, operation.endpoint);
    const words = scrub(serviceWords(outcome.raw), options.sent);
    const { rejections, ...refused } = refusedWith(deps, operation, outcome.code, words);
    await deps.ledger.journal.conclude(id, {
      state: "rejected",
      attempt,
      code: outcome.code,
      message: meaning,
      answer: keptAnswer(outcome.raw),
      changes: [],
      rejections,
      audit: { kind: "rejected", body: { meaning } },
    });
    deps.logger.warn(
      {
        operation: id,
        endpoint: operation.endpoint,
        subject: operation.subject,
        code: outcome.code,
        cure,
      },
      "operation rejected",
    );
    return { kind: "rejected", answered: outcome.code, ...refused };
  }
  return await doubt(deps, operation, id, attempt, keptAnswer(outcome.raw));
}

async function doubt(
  deps: ApplyDependencies,
  operation: Operation,
  id: string,
  attempt: ReturnType<typeof attemptEnd>,
  answer: string | undefined,
): Promise<Delivery> {
  const kind = kindOf(operation);
  if (kind.whenUnknown === "lost") {
    const { verdict, audit, message } = kind.lost(operation.payload);
    const { code, detail: reason } = attempt;
    const kept = { verdict, code, message: reason, answer };
    const told = { kind: audit.kind, body: { ...audit.body, reason } };
    await deps.ledger.journal.conclude(id, { state: "dropped", attempt, ...kept, changes: [], audit: told });
    deps.logger.warn({ operation: id, ...told.body, code }, message);
    return { kind: "unknown", id };
  }
  settleTimeBegins(deps, id, operation.subject);
  await deps.ledger.journal.conclude(id, {
    state: "unknown",
    attempt,
    settleMs: deps.settle.timeMs,
    code: attempt.code,
    message: attempt.detail,
    answer,
    changes: [],
    audit: { kind: "unknown", body: { reason: attempt.detail } },
  });
  deps.logger.warn(
    { operation: id, endpoint: operation.endpoint, subject: operation.subject, reason: attempt.detail },
    "outcome unknown",
  );
  return { kind: "unknown", id };
}

/** The new attempt did not leave, so what is unknown is still what became of the one before it. */
async function stillUnknown(
  deps: ApplyDependencies,
  id: string,
  existing: Existing,
  attempt: ReturnType<typeof attemptEnd>,
  reason: string,
): Promise<Delivery> {
  await deps.ledger.journal.conclude(id, {
    state: "unknown",
    attempt,
    settleAfter: existing.settleAfter ?? undefined,
    message: `sent again, it did not leave: ${reason}`,
    changes: [],
    audit: { kind: "not-sent", body: { reason } },
  });
  return { kind: "not-sent", id, reason };
}

async function park(
  deps: ApplyDependencies,
  id: string,
  reason: string,
  answered: { attempt?: ReturnType<typeof attemptEnd>; code?: string; answer?: string | undefined } = {},
): Promise<Delivery> {
  await deps.ledger.journal.conclude(id, {
    state: "parked",
    ...answered,
    message: reason,
    verdict: "waits for a person",
    changes: [],
    audit: { kind: "parked", body: { reason } },
  });
  deps.logger.error({ operation: id, reason }, "operation parked");
  return { kind: "parked", id, reason };
}
