import { isJsonObject, type Json } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import { isReference, type Reference } from "../model/references.ts";
import { freedBy, grantedBy, numbersOf, typeOf } from "../model/registry.ts";
import type { Operation } from "../model/operation.ts";
import type { Need } from "../model/shape.ts";
import type { Block } from "./records.ts";
import type { ObservedAsset } from "../../platform/snapshot.ts";

/** Without `left`, and without operations whose needs are in `left` or missing. */
export function goingWithout(operations: readonly Operation[], left: readonly Operation[]): Operation[] {
  const gone = new Set(left.map(nameOf));
  let going = [...operations];
  for (;;) {
    const names = new Set(going.map(nameOf));
    const isMet = (need: Need): boolean => names.has(nameOf(need)) && !gone.has(nameOf(need));
    const { goes = [], waits } = Object.groupBy(going, ({ needs }) => (needs.every(isMet) ? "goes" : "waits"));
    if (waits === undefined) return going;
    for (const operation of waits) gone.add(nameOf(operation));
    going = goes;
  }
}

function nameOf({ stage, subject }: Need): string {
  return `${stage} ${subject}`;
}

function isFor({ stage, subject }: Need): (operation: Operation) => boolean {
  return (operation) => operation.stage === stage && operation.subject === subject;
}

export function waitsForNeeds({ needs }: Pick<Operation, "needs">): Block {
  const named = [...new Set(needs.map(({ subject }) => subject))].join(" and ");
  const reason =
    `this operation waits for the change of ${named}, which cannot be done yet: crm-sync removes nothing before ` +
    "its replacement is ordered";
  return { code: "operation.waits", reason, again: true };
}

export function needsOf(operations: readonly Operation[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    operations.map((operation) => {
      const asks = referencesIn([operation.target, operation.payload]);
      const granted = new Set(grantedBy(operation));
      const needed = operations.filter(
        (other) =>
          other !== operation &&
          (operation.needs.some((need) => isFor(need)(other)) ||
            asks.some((reference) => makes(other, reference)) ||
            freedBy(other).some((number) => granted.has(number))),
      );
      return [operation.hash, needed.map(({ hash }) => hash)];
    }),
  );
}

function referencesIn(value: Json): Reference[] {
  if (isReference(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  return isJsonObject(value) ? Object.values(value).flatMap((item) => referencesIn(item ?? null)) : [];
}

function makes(operation: Operation, reference: Reference): boolean {
  const { can } = typeOf(operation);
  switch (reference.$ref) {
    case "enterpriseGlobalId":
    case "customerId":
      return can.claims?.what === "enterprise";
    case "memberGlobalId":
      return (can.credentials?.accounts?.(operation) ?? []).some((staff) => formatKey(staff) === reference.of);
    case "assetNumber":
    case "licenseOrderId":
      return numbersOf(operation).length > 0 && operation.records.some((order) => isOf(order, reference.of));
    default:
      return false;
  }
}

function isOf({ namespace, id }: { namespace: string; id: string }, of: string): boolean {
  return of.startsWith(`${JSON.stringify([namespace, id]).slice(0, -1)},`);
}

/** Holder by asset number (M6), `null` for nobody. Undefined: M6 was not read. */
export type Holders = ReadonlyMap<string, string | null> | undefined;

export function holdersOf(assets: readonly ObservedAsset[] | undefined): Holders {
  return assets === undefined ? undefined : new Map(assets.map((asset) => [asset.assetNum, asset.holder]));
}

export const holdersNotRead: Block = {
  code: "staff.not-read",
  reason: "crm-sync did not read who holds which asset of this customer, so it assigns and revokes nothing here",
  again: true,
};

/** E8's flag only says that a lock may be lent. */
export function saysLent({ from }: ObservedAsset): boolean {
  return from === "M6";
}
