import { policyOf } from "../model/policy.ts";
import type { Policies, PolicyName } from "../model/policy.ts";
import type { Block, BlockedRecord } from "./block.ts";
import { contradictionOf } from "../model/assumptions-met.ts";
import type { Contradictions, Resting } from "../model/assumptions-met.ts";
import type { Operation, DraftOperation } from "../model/operation.ts";
import { typeOf, removedBy } from "../model/registry.ts";
import { hashOf, toJson } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { operation } from "../model/operation.ts";
import type { Rejection, PlanOptions } from "./input.ts";
import type { OperationName } from "../model/resource.ts";
import type { RecordReference } from "../model/shape.ts";

/**
 * Whether a planner goes on with a change: `act` where an operation is made of it, which the gate of the run may still
 * hold; `nothing` where it is ignored; or the block of a record that is only told of. `what` says what would be done.
 */
export function consider(policies: Policies, name: PolicyName, what: string): "act" | "nothing" | Block {
  const word = policyOf(policies, name);
  if (word === "ignore") return "nothing";
  if (word !== "report") return "act";
  return {
    code: "policy.reported",
    reason: `${what}; policies.${name} is report, so crm-sync only reports this`,
    again: false,
  };
}

/** Every row of A1–A43 that an operation rests on: those of its kind, and those of what is in it. */
export function restsOf(operation: Operation): Resting[] {
  const { assumes } = typeOf(operation).can;
  return [...(assumes?.always ?? []).map((row) => ({ row })), ...(assumes?.by?.(operation) ?? [])];
}

/** Why an operation is not planned or sent: a row that it rests on was contradicted by the services. */
export function contradictedBlock(operation: Operation, contradictions: Contradictions): Block | undefined {
  if (contradictions.size === 0) return undefined;
  const found = contradictionOf(restsOf(operation), contradictions);
  if (found === undefined) return undefined;
  const about = found.about.length === 0 ? "" : ` (${found.about.join(", ")})`;
  return {
    code: "assumption.contradicted",
    reason: `the services contradict the assumption ${found.row}${about} since ${found.since}: ${found.evidence}`,
    again: true,
  };
}

const fingerprints = new WeakMap<AssumptionSettings, string>();

/** One fingerprint of the contract settings: if it changes, what was refused is tried once more. */
export function settingsFingerprint(settings: AssumptionSettings): string {
  const known = fingerprints.get(settings);
  if (known !== undefined) return known;
  const made = hashOf(toJson(settings));
  fingerprints.set(settings, made);
  return made;
}

/** Names what a call says of one record among several, so that it is known again where that was rejected. */
export function partHash(kind: string, customer: RecordKey, record: RecordKey, part: Json): string {
  return hashOf([kind, formatKey(customer), formatKey(record), part]);
}

/** For each record of an operation the hash under which a refusal of it is kept. */
export function refusedParts(operation: Operation): { record: RecordReference; hash: string }[] {
  const { kind, customer, hash, records } = operation;
  const parts = typeOf(operation).can.items?.(operation);
  if (parts === undefined) return records.map((record) => ({ record, hash }));
  return parts.map(({ record, part }) => ({ record, hash: partHash(kind, customer, record, part) }));
}

type Rules = Pick<PlanOptions, "settings" | "policies" | "contradicted"> &
  Partial<Pick<PlanOptions, "takingBlocked" | "rejected">>;

/**
 * Makes operations of what is meant, but of what may not be taken away now, of what a policy leaves undone, of what
 * rests on an assumption that was contradicted, and of what was refused and is not sent again as it was.
 */
export class StandingRejections {
  readonly #byHash: ReadonlyMap<string, Rejection>;
  readonly #rules: Rules;

  constructor(rejections: readonly Rejection[], rules: Rules) {
    this.#rules = rules;
    const fingerprint = settingsFingerprint(rules.settings);
    this.#byHash = new Map(
      rejections.filter((item) => item.settings === fingerprint).map((item) => [`${item.kind} ${item.hash}`, item]),
    );
  }

  /**
   * The operations that are meant and may go out now; the records of the others (`left`) wait, but those of ignored
   * ones.
   */
  operations(meant: readonly DraftOperation[]): {
    operations: Operation[];
    left: Operation[];
    refused: BlockedRecord[];
  } {
    const operations: Operation[] = [];
    const left: Operation[] = [];
    const refused: BlockedRecord[] = [];
    for (const { kind, ...fields } of meant) {
      const made = operation(kind, fields);
      const block = this.#ruled(made) ?? this.#of(made) ?? contradictedBlock(made, this.#rules.contradicted);
      if (block === undefined) operations.push(made);
      else left.push(made);
      if (block === undefined || block === "nothing") continue;
      refused.push(...made.records.map((record): BlockedRecord => [formatKey(record), block]));
    }
    return { operations, left, refused };
  }

  /** What a policy makes of an operation, or what a person rejected of it. */
  #ruled(made: Operation): Block | "nothing" | undefined {
    const { policies, rejected, takingBlocked } = this.#rules;
    if (takingBlocked !== undefined && takesByItself(made)) return takingBlocked;
    if (rejected?.has(made.hash) === true) return rejectedByPerson(made);
    const ruled = made.policy === undefined ? "act" : consider(policies, made.policy, made.reason);
    return ruled === "act" ? undefined : ruled;
  }

  /** Why an operation is not planned again. */
  #of(operation: Operation): Block | undefined {
    if (this.#byHash.size === 0) return undefined;
    const found = this.#byHash.get(`${operation.kind} ${operation.hash}`);
    return found === undefined || found.shared ? undefined : rejectionBlock(found);
  }

  /** What became of one part of an operation that has several: rejected alone, or together with others of it. */
  part(kind: OperationName, hash: string): { alone?: Block; together?: string } {
    const found = this.#byHash.get(`${kind} ${hash}`);
    if (found === undefined) return {};
    return found.shared ? { together: found.operationId } : { alone: rejectionBlock(found) };
  }
}

/** Whether it takes something away because a source says so, or says nothing any more: no person asked for it. */
function takesByItself(made: Operation): boolean {
  return removedBy(made) !== undefined && made.stage !== "requests";
}

function rejectedByPerson({ takesAway }: Operation): Block {
  const what = takesAway > 0 ? "this removal" : "this change";
  return { code: "revokes.rejected", reason: `a person rejected ${what}`, again: false };
}

export function rejectionBlock(rejection: Pick<Rejection, "code" | "reason">): Block {
  const block = { code: rejection.code, reason: rejection.reason, again: false };
  // Where the service refuses this application as a whole, no record is at fault.
  return rejection.code.startsWith("service.") ? block : { ...block, rejected: true };
}
