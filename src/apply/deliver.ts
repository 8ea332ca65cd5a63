import type { JsonObject } from "../base/canonical-json.ts";
import { sha256 } from "../base/canonical-json.ts";
import { Problem } from "../base/errors.ts";
import { wireText } from "../contract/wire-body.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { uniquenessCodes } from "../ledger/journal/uniqueness.ts";
import { bind } from "../plan/bind.ts";
import type { Bound } from "../plan/bind.ts";
import type { Operation } from "../operation/operation.ts";
import { bindingsFrom } from "./bindings.ts";
import type { Prepared } from "../operation/kind.ts";
import { kindOf } from "../operation/registry.ts";
import type { Shapes } from "../operation/shape.ts";
import type { PayloadFacts } from "../operation/payload-facts.ts";
import type { FixedNumber } from "../operation/state/asset-numbers.ts";
import { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { generatePassword } from "./password.ts";
import type { PlannedAsset } from "../operation/asset-numbers.ts";
import { park, recordOutcome } from "./outcome.ts";
import type { Delivery, Existing } from "./outcome.ts";
import { scrubbed, textsOf } from "./scrubbed.ts";
import { sendOnce } from "./sending.ts";

/** Why an order has no numbers yet. */
export interface Unready {
  code: string;
  reason: string;
}

/** Gives the assets of an order their numbers, for good. */
export interface AssetNumbers {
  /**
   * Fixes a number to every unit of the order's assets; `keep` is given those that were fixed now. Returns why not, or
   * undefined.
   */
  fix(
    order: RecordKey,
    assets: readonly PlannedAsset[],
    signal: AbortSignal | undefined,
    keep?: (numbers: readonly FixedNumber[]) => void,
  ): Promise<Unready | undefined>;
}

/** How an operation is carried out. */
export interface DeliverOptions {
  runId: string | null;
  /** What is known of the customer; it learns what this teaches. */
  state?: CustomerState | undefined;
  /** An operation of the journal that is sent again. */
  existing?: Existing | undefined;
  plannedId?: string | undefined;
  /** The members that M5 showed (M1 only). */
  shownBefore?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Carries one operation out: numbers, binding, permit, intent, one attempt, outcome. One that is sent again must bind
 * to the very bytes of the intent, else nothing is sent and it is parked.
 */
export async function deliver(
  deps: ApplyDependencies,
  pool: AssetNumbers,
  operation: Operation,
  options: DeliverOptions,
): Promise<Delivery> {
  const { existing, state = new CustomerState(deps, operation.customer) } = options;
  const assets = kindOf(operation).assets(operation);
  if (assets.length > 0 && existing === undefined) {
    const block = await fixNumbers(pool, operation, assets, state, options.signal);
    if (options.signal?.aborted === true) return { kind: "stopped" };
    if (block !== undefined) return { kind: "blocked", ...block };
  }
  const ready = await makeReady(deps, operation, state, options);
  if ("kind" in ready) {
    if (existing === undefined) return ready;
    return await park(deps, { operation, id: existing.id, state }, ready.again ?? ready.reason);
  }
  try {
    return await send(deps, operation, { ...options, ready, state });
  } catch (error) {
    if (!(error instanceof Problem) || !uniquenessCodes.some((code) => code === error.code)) throw error;
    return { kind: "blocked", code: error.code, reason: `${error.message}; ${error.cure}` };
  }
}

/** What is done for nobody refers to nothing. */
const nobodysFacts: PayloadFacts = {
  link: undefined,
  platformCustomers: [],
  enterpriseCode: undefined,
  numberOf: () => undefined,
  memberOf: () => undefined,
};

/** A bound payload with its call, before its permit. */
interface Ready {
  prepared: Prepared<Shapes>;
  wire: Extract<Bound, { ok: true }>["wire"];
  body: string;
  wireHash: string;
  toSeal: SealedPassword[];
}

/** Why a payload cannot be sent now; `again`: why it cannot be sent again. */
interface NotReady {
  kind: "blocked";
  code: string;
  reason: string;
  again?: string;
}

/** Binds the payload and checks it against the contract. */
async function makeReady(
  deps: ApplyDependencies,
  operation: Operation,
  state: CustomerState,
  { existing, shownBefore = [] }: DeliverOptions,
): Promise<Ready | NotReady> {
  const { ledger, settings } = deps;
  const facts = kindOf(operation).isOfCustomer ? await state.payloadFacts() : nobodysFacts;
  const passwords = await initialPasswords(deps, operation);
  const bindings = bindingsFrom(facts, settings, {
    privateValue: (marker) => ledger.private.valueOf(marker),
    initialPassword: (staff) => passwords.values.get(staff),
  });
  const bound = bind(operation.payload, bindings);
  const target = bind(operation.target, bindings);
  if (!bound.ok || !target.ok) {
    const missing = [...(bound.ok ? [] : bound.missing), ...(target.ok ? [] : target.missing)];
    const names = [...new Set(missing.map((item) => ("$ref" in item ? item.$ref : `${item.$private} ${item.field}`)))];
    const reason = `not known yet or erased: ${names.join(", ")}`;
    const again = "the payload cannot be made again: a private value was erased";
    return { kind: "blocked", code: "payload.incomplete", reason, again };
  }
  const { wire } = bound;
  const body = wireText(wire);
  const wireHash = sha256(JSON.stringify([operation.endpoint, target.wire, body]));
  if (existing !== undefined && existing.wireHash !== wireHash) {
    const reason = "the payload made now differs from the one of the intent, so nothing was sent";
    return { kind: "blocked", code: "payload.differs", reason };
  }
  const known = (): ReturnType<CustomerState["known"]> => state.known();
  const call = { operation, wire, target: target.wire, facts, settings, shownBefore, known };
  const prepared = kindOf(operation).prepare(call);
  return "code" in prepared
    ? { kind: "blocked", ...prepared }
    : { prepared, wire, body, wireHash, toSeal: passwords.toSeal };
}

/** Permit, intent, first byte, outcome. */
async function send(
  deps: ApplyDependencies,
  operation: Operation,
  sending: DeliverOptions & { ready: Ready; state: CustomerState },
): Promise<Delivery> {
  const { runId, existing, plannedId, signal, state, ready } = sending;
  const { prepared, wire, body, wireHash } = ready;
  const nonce = deps.random.hex(16);
  return await sendOnce(
    () =>
      deps.ledger.journal.intend({
        operation,
        id: existing?.id ?? plannedId,
        runId,
        wireHash,
        nonce,
        context: existing?.context ?? prepared.context,
        sealed: ready.toSeal,
      }),
    async (permit) => {
      const customer = kindOf(operation).isOfCustomer ? formatKey(operation.customer) : undefined;
      const call = { nonce, body, signal, customer, ...permit };
      return await scrubbed(state, wire, await prepared.send(deps.platform, call));
    },
    async (id, { outcome, conclude }) => {
      if (id !== undefined) {
        const sent = { operation, id, state, existing, texts: textsOf(wire) };
        return await recordOutcome(deps, sent, outcome, conclude);
      }
      if (outcome.kind !== "not-sent")
        throw new Error(`${operation.endpoint} on ${operation.subject} left without an intent`);
      return signal?.aborted === true ? { kind: "stopped" } : { kind: "not-sent", id, reason: outcome.reason };
    },
  );
}

async function fixNumbers(
  pool: AssetNumbers,
  operation: Operation,
  assets: readonly PlannedAsset[],
  state: CustomerState,
  signal: AbortSignal | undefined,
): Promise<Unready | undefined> {
  const [order] = operation.records;
  if (order === undefined) return { code: "order.unnamed", reason: "the operation names no order" };
  return await pool.fix(order, assets, signal, (numbers) => state.fixed(numbers));
}

/** A password that is sealed in the transaction of the intent that needs it first. */
interface SealedPassword {
  ref: string;
  version: number;
  salt: string;
  values: JsonObject;
}

async function initialPasswords(
  deps: ApplyDependencies,
  operation: Operation,
): Promise<{ values: Map<string, string>; toSeal: SealedPassword[] }> {
  const values = new Map<string, string>();
  const toSeal: SealedPassword[] = [];
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
