import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { CustomerInput, Part, Planned } from "./input.ts";
import { counts } from "./owner.ts";
import { counted } from "../../report/text.ts";
import type { StateChange } from "../model/state.ts";
import { isJsonObject, type Json } from "../../base/canonical-json.ts";
import { isReference, type Reference } from "../model/references.ts";
import { freedBy, grantedBy, numbersOf, typeOf } from "../model/registry.ts";
import type { Operation } from "../model/operation.ts";
import type { Need } from "../model/resource.ts";
import type { ObservedAsset } from "../../platform/snapshot.ts";

export interface RecordOutcome {
  stream: Stream;
  key: RecordKey;
  /** `rejected`: by a service. It waits until the record, the settings or a person changes something. */
  outcome: "planned" | "deferred" | "rejected";
  code?: string;
  reason?: string;
  /** Whether each run tries again, or only after the record changed. */
  again?: boolean;
}

export function recordName(stream: Stream, key: RecordKey): string {
  return `${stream} ${formatKey(key)}`;
}

type Given = Pick<CustomerInput, "customer" | "desiredCustomer" | "orders" | "staff" | "known">;

interface OwnBlocks {
  refused: Block | undefined;
  note: Block | undefined;
  asked: Block | undefined;
}

export function recordsOf(given: Given, { refused, note, asked }: OwnBlocks, planned: Planned): RecordOutcome[] {
  const { customer } = given;
  const { operations, blocks } = planned.people;
  const records: RecordOutcome[] = [];
  if (given.desiredCustomer?.pending === true) records.push(recordOf("customers", customer, refused ?? note));
  for (const { key, state } of given.orders)
    if (state !== "quarantined") records.push(recordOf("orders", key, planned.orders.blocks.get(formatKey(key))));
  // For something moved elsewhere, the customer's record reports the removals still to do here. Remarks come last.
  const elsewhere = [...blocksElsewhere(given.orders, planned.orders), ...blocksElsewhere(given.staff, planned.people)];
  const undone = elsewhere.filter(([, { code }]) => counts(code));
  const told = toldTogether(undone.length > 0 ? undone : (refused ?? note) === undefined ? elsewhere : []);
  if (told !== undefined) records.push(recordOf("customers", customer, told));
  const served = new Set(operations.flatMap((operation) => operation.records.map(formatKey)));
  for (const { key, state, pending } of given.staff) {
    if (state === "quarantined") continue;
    const block = blocks.get(formatKey(key));
    if (pending || served.has(formatKey(key)) || block?.again === true) records.push(recordOf("staff", key, block));
  }
  const waits =
    refused !== undefined ||
    records.some(({ stream, code }) => stream === "customers" && code !== undefined && counts(code));
  if (asked !== undefined && !waits) records.push(recordOf("customers", customer, asked));
  return records;
}

function blocksElsewhere(own: readonly { key: RecordKey }[], { blocks }: Part): BlockedRecord[] {
  const here = new Set(own.map(({ key }) => formatKey(key)));
  return [...blocks].filter(([key]) => !here.has(key));
}

const named = 3;

function toldTogether(blocked: readonly BlockedRecord[]): Block | undefined {
  const [, first] = blocked.find(([, { again }]) => again) ?? blocked[0] ?? [];
  if (first === undefined) return undefined;
  const reasons = blocked.slice(0, named).map(([key, { reason }]) => {
    const isNamed = reason.split(/[\s,;:]+/u).includes(key);
    return isNamed ? reason : `${key}: ${reason}`;
  });
  const more = blocked.length > named ? [`and ${blocked.length - named} more`] : [];
  return { ...first, reason: [...reasons, ...more].join("; ") };
}

function recordOf(stream: Stream, key: RecordKey, block: Block | undefined): RecordOutcome {
  if (block === undefined) return { stream, key, outcome: "planned" };
  const { code, reason, again, rejected } = block;
  return { stream, key, outcome: rejected === true ? "rejected" : "deferred", code, reason, again };
}

/**
 * `planned`: the plan without the wait, undefined without an enterprise. Records without work do not wait: already
 * correct ones, and deleted ones that never were on the platform.
 */
export function recordsWaiting(given: Given, own: Block, planned: Planned | undefined): RecordOutcome[] {
  const { customer, desiredCustomer } = given;
  const { placedOrders, staffLinks } = given.known;
  const theirs: Block = { code: "customer.blocked", reason: `waits for the customer: ${own.reason}`, again: true };
  const records: RecordOutcome[] = [];
  if (desiredCustomer?.pending === true && desiredCustomer.state !== "quarantined")
    records.push(recordOf("customers", customer, own));
  const wait = (
    stream: Stream,
    { key, pending, state }: Given["staff"][number] | Given["orders"][number],
    isUnwanted: boolean,
    busy: ReadonlySet<string> | undefined,
  ): void => {
    if (!pending || state === "quarantined") return;
    const isIdle = busy?.has(formatKey(key)) === false;
    records.push(recordOf(stream, key, isUnwanted || isIdle ? undefined : theirs));
  };
  const busyOrders = planned === undefined ? undefined : ordersOf(planned);
  for (const order of given.orders) {
    const isUnwanted = order.state === "absent" || order.body.cancelled;
    wait("orders", order, isUnwanted && !placedOrders.has(formatKey(order.key)), busyOrders);
  }
  const busyPeople = planned === undefined ? undefined : peopleOf(given, planned.people);
  for (const person of given.staff)
    wait("staff", person, person.state === "absent" && !staffLinks.has(formatKey(person.key)), busyPeople);
  return records;
}

function ordersOf({ orders }: Planned): ReadonlySet<string> {
  const { operations, blocks } = orders;
  return new Set([...blocks.keys(), ...operations.flatMap((operation) => operation.records.map(formatKey))]);
}

function peopleOf({ known }: Given, { operations, changes, blocks }: Part): ReadonlySet<string> {
  const holdersOf = (assetNumber: string): string[] =>
    known.assignments.filter((item) => item.assetNumber === assetNumber).map((item) => formatKey(item.staff));
  return new Set([
    ...blocks.keys(),
    ...operations.flatMap((operation) => operation.records.map(formatKey)),
    ...changes.flatMap((change) => ("staff" in change ? [formatKey(change.staff)] : [])),
    ...changes.flatMap((change) => (change.type === "asset-revoked" ? holdersOf(change.assetNumber) : [])),
  ]);
}

/** A quarantined record could still need something, so nothing may be removed. */
export function quarantineBlock({
  customer,
  quarantinedInScope: own,
  sourceWithStrayRecord: stray,
}: Pick<CustomerInput, "customer" | "quarantinedInScope" | "sourceWithStrayRecord">): Block | undefined {
  if (own > 0) {
    return {
      code: "revokes.blocked",
      reason:
        `${counted(own, "record")} of this customer ${own === 1 ? "waits" : "wait"} in quarantine, so nothing is ` +
        `removed: \`crm-sync explain customer ${formatKey(customer)}\` lists them`,
      again: true,
    };
  }
  if (stray === undefined) return undefined;
  return {
    code: "revokes.blocked",
    reason:
      `a person of the source ${stray.source} waits in quarantine, and the customer of that person is not known. So ` +
      `nothing is removed from people of ${stray.source}: \`crm-sync quarantine show ${stray.row}\` shows the person`,
    again: true,
  };
}

/** `again`: each run tries again. Otherwise only a change of the record does. */
export interface Block {
  code: string;
  reason: string;
  again: boolean;
  rejected?: true;
}

export type BlockedRecord = readonly [key: string, block: Block];

/** A block with `again` takes precedence. Otherwise the first counts. */
export function firstBlocks(blocked: Iterable<BlockedRecord>): Map<string, Block> {
  const blocks = new Map<string, Block>();
  for (const [key, block] of blocked) {
    const earlier = blocks.get(key);
    if (earlier === undefined || (block.again && !earlier.again)) blocks.set(key, block);
  }
  return blocks;
}

export const missingRecord: Block = {
  code: "record.missing",
  reason:
    "the last full read does not contain the record, so crm-sync buys and creates nothing for it before a read " +
    "contains it again",
  again: true,
};

/** A removal from a person who moved in the CRM, but whose new customer cannot have the person yet. */
export function moveStays(person: string, why: string): Block {
  const reason =
    `the person ${person} moved to another customer in the CRM, but keeps the licences and the account here for now: ` +
    why;
  return { code: "staff.move-stopped", reason, again: true };
}

/** A reading of a person's manual work for a record. Nothing of it counts if anything differs. */
export interface ReadBack {
  changes: StateChange[];
  /** Descriptions of parts that are as the CRM wants them, without private values. */
  seen: string[];
  unseen: string[];
  otherwise: string[];
}

export function nothingRead(): ReadBack {
  return { changes: [], seen: [], unseen: [], otherwise: [] };
}

export function addRead(read: ReadBack, more: ReadBack): void {
  read.changes.push(...more.changes);
  read.seen.push(...more.seen);
  read.unseen.push(...more.unseen);
  read.otherwise.push(...more.otherwise);
}

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
