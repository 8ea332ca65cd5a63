import { policyOf, type Policies, type PolicyName } from "../model/policy-settings.ts";
import type { Block, BlockedRecord } from "./blocks.ts";
import { contradictionOf, type Contradictions, type Resting } from "../model/assumptions-met.ts";
import { type Operation, type DraftOperation, operation } from "../model/operation.ts";
import { typeOf, removedBy } from "../model/registry.ts";
import { hashOf, toJson, type Json } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Rejection, PlanOptions } from "./input.ts";
import type { OperationName, RecordReference } from "../model/resource.ts";

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

export function restsOf(operation: Operation): Resting[] {
  const { assumes } = typeOf(operation).can;
  return [...(assumes?.always ?? []).map((row) => ({ row })), ...(assumes?.by?.(operation) ?? [])];
}

export function contradictedBlock(rests: readonly Resting[], contradictions: Contradictions): Block | undefined {
  const found = contradictionOf(rests, contradictions);
  if (found === undefined) return undefined;
  const about = found.about.length === 0 ? "" : ` (${found.about.join(", ")})`;
  return {
    code: "assumption.contradicted",
    reason: `the services contradict the assumption ${found.row}${about} since ${found.since}: ${found.evidence}`,
    again: true,
  };
}

const fingerprints = new WeakMap<AssumptionSettings, string>();

/** If the settings of the contract change, rejected operations are tried again. */
export function settingsFingerprint(settings: AssumptionSettings): string {
  const known = fingerprints.get(settings);
  if (known !== undefined) return known;
  const made = hashOf(toJson(settings));
  fingerprints.set(settings, made);
  return made;
}

export function partHash(kind: string, customer: RecordKey, record: RecordKey, part: Json): string {
  return hashOf([kind, formatKey(customer), formatKey(record), part]);
}

export function refusedParts(operation: Operation): { record: RecordReference; hash: string }[] {
  const { kind, customer, hash, records } = operation;
  const parts = typeOf(operation).can.items?.(operation);
  if (parts === undefined) return records.map((record) => ({ record, hash }));
  return parts.map(({ record, part }) => ({ record, hash: partHash(kind, customer, record, part) }));
}

type Rules = Pick<PlanOptions, "settings" | "policies" | "contradicted"> &
  Partial<Pick<PlanOptions, "removalsBlocked" | "rejected">>;

/** Makes operations from drafts, without those that are stopped now or were rejected unchanged. */
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

  /** `left`: stopped operations. `refused`: the blocks of their records, except where a policy ignores the change. */
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
      const block = this.#ruled(made) ?? this.#of(made) ?? contradictedBlock(restsOf(made), this.#rules.contradicted);
      if (block === undefined) operations.push(made);
      else left.push(made);
      if (block === undefined || block === "nothing") continue;
      refused.push(...made.records.map((record): BlockedRecord => [formatKey(record), block]));
    }
    return { operations, left, refused };
  }

  #ruled(made: Operation): Block | "nothing" | undefined {
    const { policies, rejected, removalsBlocked } = this.#rules;
    if (removalsBlocked !== undefined && takesByItself(made)) return removalsBlocked;
    if (rejected?.has(made.hash) === true) return rejectedByPerson(made);
    const ruled = made.policy === undefined ? "act" : consider(policies, made.policy, made.reason);
    return ruled === "act" ? undefined : ruled;
  }

  #of(operation: Operation): Block | undefined {
    if (this.#byHash.size === 0) return undefined;
    const found = this.#byHash.get(`${operation.kind} ${operation.hash}`);
    return found === undefined || found.shared ? undefined : rejectionBlock(found);
  }

  part(kind: OperationName, hash: string): { alone?: Block; together?: string } {
    const found = this.#byHash.get(`${kind} ${hash}`);
    if (found === undefined) return {};
    return found.shared ? { together: found.operationId } : { alone: rejectionBlock(found) };
  }
}

/** A removal that no person requested: a source changed or ended something. */
function takesByItself(made: Operation): boolean {
  return removedBy(made) !== undefined && made.stage !== "requests";
}

function rejectedByPerson({ takesAway }: Operation): Block {
  const what = takesAway > 0 ? "this removal" : "this change";
  return { code: "revokes.rejected", reason: `a person rejected ${what}`, again: false };
}

export function rejectionBlock(rejection: Pick<Rejection, "code" | "reason">): Block {
  const block = { code: rejection.code, reason: rejection.reason, again: false };
  // The service refuses this application as a whole, so no record is at fault.
  return rejection.code.startsWith("service.") ? block : { ...block, rejected: true };
}
