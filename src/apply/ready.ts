import type { Json, JsonObject } from "../base/canonical-json.ts";
import { sha256 } from "../base/canonical-json.ts";
import { wireText } from "../contract/wire-body.ts";
import type { Prepared } from "../engine/operation-type.ts";
import type { Operation } from "../engine/operation.ts";
import type { PayloadFacts } from "../engine/payload-facts.ts";
import type { PrivateMarker } from "../engine/references.ts";
import { typeOf } from "../engine/registry.ts";
import type { Shapes } from "../engine/shape.ts";
import { bind } from "../engine/plan/bind.ts";
import { bindingsFrom } from "./bindings.ts";
import type { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { madePasswords } from "./made-passwords.ts";
import type { SealedPassword } from "./made-passwords.ts";
import type { Existing } from "./outcome.ts";

/** What is done for nobody refers to nothing. */
const nobodysFacts: PayloadFacts = {
  link: undefined,
  platformCustomers: [],
  enterpriseCode: undefined,
  numberOf: () => undefined,
  memberOf: () => undefined,
};

/** A bound payload with its call, before its permit. */
export interface Ready {
  prepared: Prepared<Shapes>;
  wire: JsonObject;
  body: string;
  wireHash: string;
  toSeal: SealedPassword[];
}

/** Why a payload cannot be sent now; `again`: why it cannot be sent again. */
export interface NotReady {
  kind: "blocked";
  code: string;
  reason: string;
  again?: string;
}

/**
 * The hash of the sent payload, which the audit log keeps for good. It covers the salts of the private values too, so
 * that nobody can guess an erased value by the hash.
 */
function wireHashOf(sent: readonly Json[], salts: readonly string[]): string {
  return sha256(JSON.stringify(salts.length === 0 ? sent : [...sent, salts]));
}

/** Binds the payload and checks it against the contract. */
export async function makeReady(
  deps: ApplyDependencies,
  operation: Operation,
  state: CustomerState,
  given: {
    existing?: Existing | undefined;
    shownBefore?: readonly { globalId: string }[] | undefined;
    /** Of an amendment. */
    channelOrderId?: string | undefined;
  },
): Promise<Ready | NotReady> {
  const { ledger, settings } = deps;
  const { existing, shownBefore = [], channelOrderId } = given;
  // E9 fills the pool of asset numbers, for no customer.
  const facts = operation.endpoint === "E9" ? nobodysFacts : await state.payloadFacts();
  const passwords = await madePasswords(deps, operation);
  if (passwords.toSeal.length > 0 && !ledger.private.canSeal) {
    const reason = "the setting ledger.sealKey is missing, so crm-sync cannot keep the password";
    return { kind: "blocked", code: "staff.no-sealing-key", reason };
  }
  const valueOf = ledger.private.reader();
  const markers: PrivateMarker[] = [];
  const bindings = bindingsFrom(facts, settings, {
    privateValue: (marker) => {
      markers.push(marker);
      return valueOf(marker);
    },
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
  const wireHash = wireHashOf([operation.endpoint, target.wire, body], ledger.private.saltsOf(markers));
  if (existing !== undefined && existing.wireHash !== wireHash) {
    const reason = "the payload differs from the payload that was recorded for this operation, so nothing was sent";
    return { kind: "blocked", code: "payload.differs", reason };
  }
  const known = (): ReturnType<CustomerState["known"]> => state.known();
  const call = { operation, wire, target: target.wire, facts, settings, shownBefore, known, sealed: passwords.toSeal };
  const prepared = typeOf(operation).prepare(call);
  return "code" in prepared
    ? { kind: "blocked", ...prepared }
    : { prepared, wire, body, wireHash, toSeal: passwords.toSeal };
}
