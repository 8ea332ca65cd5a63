import type { Known } from "./model/state.ts";
import type { StandingHold } from "../ledger/decisions/hold-rows.ts";
import { Problem } from "../base/errors.ts";
import { namesIn, toldWords } from "../base/told-words.ts";
import { fillTemplate } from "../contract/template.ts";
import { formatKey, parseKey } from "../crm/keys.ts";
import { type RecordKey, licenseTypes } from "../crm/model.ts";
import { contradictedBlock, restsOf } from "./plan/rejections.ts";
import { uniquenessCodes } from "../ledger/journal/uniqueness.ts";
import {
  type PlannedAsset,
  type FixedNumber,
  type PrivateMarker,
  type Reference,
  isPrivateMarker,
  isReference,
} from "./model/references.ts";
import type { Operation } from "./model/operation.ts";
import { numbersOf, typeOf } from "./model/registry.ts";
import { CustomerState, type EngineDependencies, type PayloadFacts } from "./customer.ts";
import { park, recordOutcome, sendOnce, type Delivery, type Existing, type Unready } from "./send.ts";
import { timeToLeave } from "./settle-time.ts";
import { type Json, type JsonObject, sha256 } from "../base/canonical-json.ts";
import { wireText } from "../contract/answer-json.ts";
import type { Prepared } from "./model/operation-type.ts";
import type { Shapes } from "./model/resource.ts";
import { madePasswords, type MadePasswords } from "./passwords.ts";
import type { SealedValues } from "../ledger/private/private-values.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { selectPlatformCustomer } from "./plan/input.ts";

/** Fixes the numbers of an order's assets, for good. */
export interface AssetNumbers {
  fix(
    of: { order: RecordKey; customer: RecordKey },
    assets: readonly PlannedAsset[],
    signal: AbortSignal | undefined,
    keep?: (numbers: readonly FixedNumber[]) => void,
  ): Promise<Unready | undefined>;
}

export interface DeliverOptions {
  runId: string | null;
  state?: CustomerState | undefined;
  existing?: Existing | undefined;
  plannedId?: string | undefined;
  plan?: string | undefined;
  ofUndo?: boolean | undefined;
  hold?: StandingHold | undefined;
  shownBefore?: readonly { globalId: string }[] | undefined;
  signal?: AbortSignal | undefined;
  /** Commit the outcome with the next write. To be sure of the commit, await `state.settled()`. */
  ahead?: boolean | undefined;
}

/**
 * Carries out one operation: numbers, binding, permit, intent, one attempt, outcome. A repeated operation must bind to
 * the bytes of its intent. Otherwise nothing is sent and it needs a person.
 */
export async function deliver(
  deps: EngineDependencies,
  pool: AssetNumbers | undefined,
  operation: Operation,
  options: DeliverOptions,
): Promise<Delivery> {
  const { existing, state = new CustomerState(deps, operation.customer) } = options;
  const contradicted = contradictedBlock(restsOf(operation), deps.ledger.assumptions.contradictions);
  if (contradicted !== undefined)
    return existing === undefined
      ? { kind: "blocked", ...contradicted }
      : await park(deps, { operation, id: existing.id, state }, `it is not sent again: ${contradicted.reason}`);
  const assets = numbersOf(operation);
  if (assets.length > 0 && existing === undefined) {
    const [order] = operation.records;
    if (order === undefined)
      return { kind: "blocked", code: "order.unnamed", reason: "the operation does not name its order" };
    if (pool === undefined) throw new Error("an order is sent for the first time without the pool of asset numbers");
    const block = await pool.fix({ order, customer: operation.customer }, assets, options.signal, (numbers) =>
      state.fixed(numbers),
    );
    if (options.signal?.aborted === true) return { kind: "stopped" };
    if (block !== undefined) return { kind: "blocked", ...block };
  }
  const isAmendment = typeOf(operation).can.expects !== undefined;
  const number = isAmendment ? await amendmentNumber(deps, operation, state, existing) : undefined;
  if (number !== undefined && "code" in number) return { kind: "blocked", ...number };
  const makesPasswords = typeOf(operation).can.credentials !== undefined;
  const passwords = makesPasswords ? await madePasswords(deps, operation) : noPasswords;
  const ready = makeReady(deps, operation, state, { ...options, passwords, channelOrderId: number?.number });
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

/** The channel order number of an amendment: fixed before its intent, and the same when sent again. */
async function amendmentNumber(
  { ledger, settings }: EngineDependencies,
  operation: Operation,
  state: CustomerState,
  existing: Existing | undefined,
): Promise<{ number: string } | Unready | undefined> {
  const order = typeOf(operation).can.expects?.(operation)?.order;
  if (order === undefined) return undefined;
  const before = existing?.context["channelOrderId"];
  if (typeof before === "string") return { number: before };
  const placed = state.held.known.placedOrders.get(formatKey(order));
  if (placed === undefined)
    return { code: "order.changed-meanwhile", reason: `the order ${formatKey(order)} is no longer placed` };
  const { id, namespace } = order;
  const values = { id, namespace, order: placed.channelOrderId };
  const fixed = await ledger.state.write((rows, at) =>
    rows.order.steps.fixNumber(
      order,
      operation.hash,
      (n) => fillTemplate(settings.amendmentOrderIdTemplate, { ...values, n: String(n) }),
      at,
    ),
  );
  if (!("takenBy" in fixed)) return fixed;
  return {
    code: "order.same-channel-number",
    reason:
      `the next amendment gets the channel order number ${fixed.number} (assumptions.amendmentOrderIdTemplate), but ` +
      `the order ${formatKey(fixed.takenBy)} has that number already`,
  };
}

const late = "the program was held up before it could send; somebody else may have sent it meanwhile";

/** If the first byte is late, the outcome is unknown. */
function send(
  deps: EngineDependencies,
  operation: Operation,
  sending: DeliverOptions & { ready: Ready; state: CustomerState },
): Promise<Delivery> {
  const { runId, existing, plannedId, plan, ofUndo, hold, signal, state, ready, ahead } = sending;
  const { prepared, wire, body, wireHash } = ready;
  const nonce = deps.random.hex(16);
  let isLate = (): boolean => false;
  return sendOnce(
    (acceptedUntil) => {
      isLate = timeToLeave(deps.clock, deps.ledger.clockSkewMs);
      return deps.ledger.journal.intend({
        operation,
        id: existing?.id ?? plannedId,
        runId,
        wireHash,
        nonce,
        acceptedUntil,
        context: existing?.context ?? prepared.context,
        sealed: ready.toSeal,
        plan,
        ofUndo,
        hold: plannedId === undefined ? hold : undefined,
        after: state.after,
      });
    },
    (permit) => {
      const customer = operation.endpoint === "E9" ? undefined : formatKey(operation.customer);
      const call = { nonce, body, signal, customer, mayLeave: () => !isLate(), ...permit };
      return prepared.send(deps.platform, call);
    },
    (id, { outcome, conclude }) => {
      if (id !== undefined) {
        const said = (words: string): string => toldWords(words, namesIn(wire));
        const sent = { operation, id, state, existing, ahead, said };
        const isOpen = outcome.kind === "not-sent" && isLate();
        return recordOutcome(deps, sent, isOpen ? { kind: "unknown", reason: late } : outcome, conclude);
      }
      if (outcome.kind !== "not-sent")
        throw new Error(`${operation.endpoint} on ${operation.subject} left without an intent`);
      const unsent: Delivery = { kind: "not-sent", id, reason: outcome.reason };
      return Promise.resolve(signal?.aborted === true ? { kind: "stopped" } : unsent);
    },
  );
}

const nobodysFacts: PayloadFacts = {
  link: undefined,
  platformCustomers: [],
  enterpriseCode: undefined,
  numberOf: () => undefined,
  memberOf: () => undefined,
};

interface Ready {
  prepared: Prepared<Shapes>;
  wire: JsonObject;
  body: string;
  wireHash: string;
  toSeal: SealedValues[];
}

type NotReady = { kind: "blocked"; again?: string } & Unready;

/** Kept in the audit log for good. Covers salts, so that nobody can guess an erased value from it. */
function wireHashOf(sent: { endpoint: string; target: Json; body: string }, salts: readonly string[]): string {
  return sha256([sent.endpoint, JSON.stringify(sent.target), sent.body, ...salts].join("\n"));
}

const noPasswords: MadePasswords = { initial: new Map(), anew: new Map(), toSeal: [] };

function makeReady(
  deps: EngineDependencies,
  operation: Operation,
  state: CustomerState,
  given: {
    existing?: Existing | undefined;
    shownBefore?: readonly { globalId: string }[] | undefined;
    passwords: MadePasswords;
    channelOrderId: string | undefined;
  },
): Ready | NotReady {
  const { ledger, settings } = deps;
  const { existing, shownBefore = [], passwords, channelOrderId } = given;
  // E9 fills the pool of asset numbers, for no customer.
  const facts = operation.endpoint === "E9" ? nobodysFacts : state.payloadFacts();
  if (passwords.toSeal.length > 0 && !ledger.private.canSeal) {
    const reason = "the setting ledger.sealKey is missing, so crm-sync cannot keep the password";
    return { kind: "blocked", code: "staff.no-sealing-key", reason };
  }
  const reader = ledger.private.reader();
  const bindings = bindingsFrom(facts, settings, {
    privateValue: reader.valueOf,
    initialPassword: (staff) => passwords.initial.get(staff),
    newPassword: (staff) => passwords.anew.get(staff),
    channelOrderId,
  });
  const bound = bind(operation.payload, bindings);
  const target = bind(operation.target, bindings);
  if (!bound.ok || !target.ok) {
    const missing = [...(bound.ok ? [] : bound.missing), ...(target.ok ? [] : target.missing)];
    const names = [...new Set(missing.map((item) => ("$ref" in item ? item.$ref : `${item.$private} ${item.field}`)))];
    const reason = `these values are not known yet or were erased: ${names.join(", ")}`;
    const again = "the payload cannot be made again: a private value was erased";
    return { kind: "blocked", code: "payload.incomplete", reason, again };
  }
  const { wire } = bound;
  const body = wireText(wire);
  const wireHash = wireHashOf({ endpoint: operation.endpoint, target: target.wire, body }, reader.salts());
  if (existing !== undefined && existing.wireHash !== wireHash) {
    const reason = "the payload differs from the payload that was recorded for this operation, so nothing was sent";
    return { kind: "blocked", code: "payload.differs", reason };
  }
  const known = (): Known => state.held.known;
  const call = { operation, wire, target: target.wire, facts, settings, shownBefore, known, sealed: passwords.toSeal };
  const prepared = typeOf(operation).prepare(call);
  return "code" in prepared
    ? { kind: "blocked", ...prepared }
    : { prepared, wire, body, wireHash, toSeal: passwords.toSeal };
}

export function bindingsFrom(
  known: PayloadFacts,
  settings: AssumptionSettings,
  values: Omit<Bindings, "reference"> & {
    channelOrderId?: string | undefined;
  },
): Bindings {
  return {
    ...values,
    reference: (reference) => {
      switch (reference.$ref) {
        case "enterpriseGlobalId":
          return known.link?.enterpriseGlobalId;
        case "customerId": {
          const licenseType = licenseTypes.find((type) => type === reference.of);
          if (licenseType === undefined) return undefined;
          const selected = selectPlatformCustomer(known, licenseType, settings);
          return "customerId" in selected ? selected.customerId : undefined;
        }
        case "assetNumber":
          return known.numberOf(reference.of);
        case "memberGlobalId":
          return known.memberOf(parseKey(reference.of));
        case "channelOrderId":
          return values.channelOrderId;
        case "licenseOrderId":
          return undefined;
      }
    },
  };
}

/** Undefined: not known yet, or erased. */
export interface Bindings {
  reference(reference: Reference): Json | undefined;
  privateValue(marker: PrivateMarker): Json | undefined;
  initialPassword(staff: string): string | undefined;
  newPassword(staff: string): string | undefined;
}

type Missing = Reference | { $private: string; field: string; version: number };

export type Bound = { ok: true; wire: JsonObject } | { ok: false; missing: Missing[] };

/** If one value is missing, nothing is usable. The result shares parts with the payload: change neither. */
export function bind(payload: JsonObject, bindings: Bindings): Bound {
  const missing: Missing[] = [];
  const wire = boundMembers(payload, bindings, missing);
  return missing.length === 0 ? { ok: true, wire } : { ok: false, missing };
}

function boundMembers(value: JsonObject, bindings: Bindings, missing: Missing[]): JsonObject {
  let bound: JsonObject | undefined;
  for (const name in value) {
    const member = value[name];
    if (typeof member !== "object" || member === null) continue;
    const put = boundValue(member, bindings, missing);
    if (put === member) continue;
    bound ??= { ...value };
    bound[name] = put;
  }
  return bound ?? value;
}

function boundItems(list: Json[], bindings: Bindings, missing: Missing[]): Json[] {
  let bound: Json[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index];
    if (typeof item !== "object" || item === null) continue;
    const put = boundValue(item, bindings, missing);
    if (put === item) continue;
    bound ??= [...list];
    bound[index] = put;
  }
  return bound ?? list;
}

function boundValue(value: Json[] | JsonObject, bindings: Bindings, missing: Missing[]): Json {
  if (Array.isArray(value)) return boundItems(value, bindings, missing);
  if (isReference(value)) {
    const found = bindings.reference(value);
    if (found === undefined) missing.push(value);
    return found ?? null;
  }
  if (isPrivateMarker(value)) {
    const found = bindings.privateValue(value);
    if (found === undefined) missing.push({ $private: value.$private, field: value.field, version: value.version });
    return found ?? null;
  }
  const made = madePassword(value, bindings);
  if (made === undefined) return boundMembers(value, bindings, missing);
  if (made.password === undefined) missing.push({ $private: made.ref, field: "password", version: 1 });
  return made.password ?? null;
}

function madePassword(
  value: JsonObject,
  bindings: Bindings,
): { ref: string; password: string | undefined } | undefined {
  const { $initialPassword: initial, $newPassword: anew } = value;
  if (typeof initial === "string")
    return { ref: `initial-password/${initial}`, password: bindings.initialPassword(initial) };
  return typeof anew === "string" ? { ref: `reset-password/${anew}`, password: bindings.newPassword(anew) } : undefined;
}
