import { hashOf, toJson } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { operation } from "../operation/new-operation.ts";
import type { MeantOperation, Operation } from "../operation/operation.ts";
import { kindOf, kinds } from "../operation/registry.ts";
import type { Block, BlockedRecord } from "./block.ts";
import type { Rejection } from "./input.ts";
import type { RecordReference } from "../operation/shape.ts";

const fingerprints = new WeakMap<AssumptionSettings, string>();

/** Settings that change the hash of every operation that they concern. */
const inPayloads = new Set<string>(Object.values(kinds).flatMap((kind) => kind.settingsInPayload));

/**
 * One fingerprint of the contract settings: where it changes, what was refused is tried once more. What stands in the
 * payloads that need it is no part of it.
 */
export function settingsFingerprint(settings: AssumptionSettings): string {
  const known = fingerprints.get(settings);
  if (known !== undefined) return known;
  const others = Object.entries(settings).filter(([key]) => !inPayloads.has(key));
  const made = hashOf(toJson(Object.fromEntries(others)));
  fingerprints.set(settings, made);
  return made;
}

/** What M1 is told of one person: the part of an M1 that is compared when the person was refused before. */
export function personHash(customer: RecordKey, staff: RecordKey, entry: Json | undefined): string {
  return partHash("add-staff", customer, staff, entry ?? null);
}

function partHash(kind: string, customer: RecordKey, record: RecordKey, part: Json): string {
  return hashOf([kind, formatKey(customer), formatKey(record), part]);
}

/** For each record of an operation the hash under which a refusal of it is kept. */
export function refusedParts(operation: Operation): { record: RecordReference; hash: string }[] {
  const { kind, customer, hash, records } = operation;
  const parts = kindOf(operation).parts(operation);
  if (parts === undefined) return records.map((record) => ({ record, hash }));
  return parts.map(({ record, part }) => ({ record, hash: partHash(kind, customer, record, part) }));
}

/** Looks up what was refused and is not sent again as it was. */
export class StandingRejections {
  readonly #byHash: ReadonlyMap<string, Rejection>;

  constructor(rejections: readonly Rejection[], settings: AssumptionSettings) {
    const fingerprint = settingsFingerprint(settings);
    this.#byHash = new Map(
      rejections.filter((item) => item.settings === fingerprint).map((item) => [`${item.kind} ${item.hash}`, item]),
    );
  }

  /** The operations that are meant, without those that were refused before: the records of such a one wait. */
  operations(meant: readonly MeantOperation[]): { operations: Operation[]; refused: BlockedRecord[] } {
    const operations: Operation[] = [];
    const refused: BlockedRecord[] = [];
    for (const { kind, ...fields } of meant) {
      const made = operation(kind, fields);
      const block = this.#of(made);
      if (block === undefined) operations.push(made);
      else refused.push(...made.records.map((record): BlockedRecord => [formatKey(record), block]));
    }
    return { operations, refused };
  }

  /** Why an operation is not planned again. */
  #of(operation: Operation): Block | undefined {
    if (this.#byHash.size === 0) return undefined;
    const found = this.#byHash.get(`${operation.kind} ${operation.hash}`);
    return found === undefined || found.shared ? undefined : rejectionBlock(found);
  }

  /** What became of a person's part of an M1: refused alone, or together with others of one operation. */
  person(hash: string): { alone?: Block; together?: string } {
    const found = this.#byHash.get(`add-staff ${hash}`);
    if (found === undefined) return {};
    return found.shared ? { together: found.operationId } : { alone: rejectionBlock(found) };
  }
}

export function rejectionBlock(rejection: Pick<Rejection, "code" | "reason">): Block {
  const block = { code: rejection.code, reason: rejection.reason, again: false };
  // Where the service refuses this application as a whole, no record is at fault.
  return rejection.code.startsWith("service.") ? block : { ...block, rejected: true };
}
