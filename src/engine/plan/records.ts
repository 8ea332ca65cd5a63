import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Block, BlockedRecord } from "./block.ts";
import type { CustomerInput, Part, Planned } from "./input.ts";
import { counts } from "./owner.ts";

/** What becomes of one record: its operations are planned, or it waits for a reason. */
export interface RecordOutcome {
  stream: Stream;
  key: RecordKey;
  /**
   * A `rejected` record was refused by a service: it waits until the record, the settings or a person changed
   * something.
   */
  outcome: "planned" | "deferred" | "rejected";
  /** For a deferral or a rejection: a dotted code and the reason in words. */
  code?: string;
  reason?: string;
  /** Whether a deferred record is looked at again in each run (true), or only when it changes. */
  again?: boolean;
}

type Given = Pick<CustomerInput, "customer" | "desiredCustomer" | "orders" | "staff" | "known">;

/** What the customer's own record waits for, although nothing under it does. */
interface OwnBlocks {
  /** The service refused to have the enterprise changed. */
  refused: Block | undefined;
  note: Block | undefined;
  /** Why something that people asked for is not done. */
  asked: Block | undefined;
}

/** What becomes of each record of a customer that does not wait. */
export function recordsOf(given: Given, { refused, note, asked }: OwnBlocks, planned: Planned): RecordOutcome[] {
  const { customer } = given;
  const { operations, blocks } = planned.people;
  const records: RecordOutcome[] = [];
  if (given.desiredCustomer?.pending === true) records.push(recordOf("customers", customer, refused ?? note));
  for (const { key, state } of given.orders)
    if (state !== "quarantined") records.push(recordOf("orders", key, planned.orders.blocks.get(formatKey(key))));
  // An order or a person that belongs elsewhere now: the customer itself keeps what is still to be taken away here in
  // mind. What only has to be told comes after everything else.
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
  // What the customer itself waits for comes first: it is looked at again, which a request that was refused is not.
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

/** How many records that belong elsewhere a customer names. */
const named = 3;

/** One block for several records, each with its name and its reason; it is looked at again where one of them is. */
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
 * What waits for its customer. What is as the CRM wants it waits for nothing, nor does what is gone and was never on
 * the platform. `planned` is what would be done if the customer did not wait; undefined where it has no enterprise.
 */
export function recordsWaiting(given: Given, own: Block, planned: Planned | undefined): RecordOutcome[] {
  const { customer, desiredCustomer } = given;
  const { placedOrders, staffLinks } = given.known;
  const theirs: Block = { code: "customer.blocked", reason: `waits for the customer: ${own.reason}`, again: true };
  const records: RecordOutcome[] = [];
  if (desiredCustomer?.pending === true && desiredCustomer.state !== "quarantined")
    records.push(recordOf("customers", customer, own));
  const busyOrders = planned === undefined ? undefined : ordersOf(planned);
  for (const { key, pending, state, body } of given.orders) {
    if (!pending || state === "quarantined") continue;
    const name = formatKey(key);
    const unwanted = (state === "absent" || body.cancelled) && !placedOrders.has(name);
    const idle = busyOrders !== undefined && !busyOrders.has(name);
    records.push(recordOf("orders", key, unwanted || idle ? undefined : theirs));
  }
  const busyPeople = planned === undefined ? undefined : peopleOf(given, planned.people);
  for (const { key, pending, state } of given.staff) {
    if (!pending || state === "quarantined") continue;
    const name = formatKey(key);
    const unwanted = state === "absent" && !staffLinks.has(name);
    const idle = busyPeople !== undefined && !busyPeople.has(name);
    records.push(recordOf("staff", key, unwanted || idle ? undefined : theirs));
  }
  return records;
}

/** Orders for which something would be done or said. */
function ordersOf({ orders }: Planned): ReadonlySet<string> {
  const { operations, blocks } = orders;
  return new Set([...blocks.keys(), ...operations.flatMap((operation) => operation.records.map(formatKey))]);
}

/** People for whom something would be done, recorded or said. */
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
