import { hashOf } from "../base/canonical-json.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { StateChange } from "../operation/state.ts";
import type { Block } from "./block.ts";
import type { EnterpriseStage } from "./enterprise.ts";
import { needsLookUp, planEnterprise } from "./enterprise.ts";
import type { CustomerInput } from "./input.ts";
import type { Operation } from "../operation/operation.ts";
import { compareOperations } from "../operation/operation.ts";
import { planOrders } from "./orders.ts";
import { planPrivileges } from "./assignments.ts";
import { planRequested } from "./requested.ts";
import { StandingRejections } from "./rejections.ts";
import { planStaff } from "./staff.ts";

/** What becomes of one record in a plan: its operations are planned, or it waits for a reason. */
export interface PlannedRecord {
  stream: Stream;
  key: RecordKey;
  outcome: "planned" | "deferred" | "rejected";
  code?: string;
  reason?: string;
  again?: boolean;
}

/** Everything that is meant to happen for one customer. */
export interface CustomerPlan {
  customer: RecordKey;
  operations: Operation[];
  records: PlannedRecord[];
  /**
   * What reading the platform changes in what is known, without an operation: adoptions, and assignments found gone.
   */
  changes: StateChange[];
  /** The customer itself waits: what is under it was not planned, and nothing can be told from what is not there. */
  waits?: true;
  /** What the plan was made from; a plan whose fingerprint no longer fits is stale. */
  fingerprint: string;
}

export interface PlanOptions {
  settings: AssumptionSettings;
  /** Whether initial passwords can be sealed (A30). */
  canSeal: boolean;
  /** Why nothing may be taken away in this run: an incomplete or shrunken source. */
  revokesBlocked: Block | undefined;
  /** Subjects of what was carried out in this attempt already, for what is tried once in an attempt. */
  tried?: ReadonlySet<string> | undefined;
}

/** What has to be read from the platform before a customer can be planned. Nothing, where nothing depends on it. */
export interface Needs {
  enterprises: boolean;
  /** M5 and M6. */
  staff: boolean;
  /** (M6 ∪ E8) → M7 of an adopted enterprise, so that orders already there are not placed again. */
  orders: boolean;
}

/**
 * Decides what has to be read (E3; M5 and M6; the assets of an adopted enterprise). `thorough` reads staff even where
 * nothing changed.
 */
export function needsOf(input: Omit<CustomerInput, "observed">, thorough: boolean): Needs {
  const { link } = input.known;
  const staffMatters =
    input.staff.some((staff) => staff.pending && staff.state !== "quarantined") ||
    hasStrangers(input) ||
    (thorough && input.staff.length > 0);
  return {
    enterprises: needsLookUp(input),
    staff: link !== undefined && staffMatters,
    orders:
      link !== undefined &&
      link.origin !== "created" &&
      !link.examined &&
      input.orders.some((order) => order.pending && order.state === "current"),
  };
}

/** Whether somebody holds an asset here by our doing and no longer belongs to this customer in the CRM. */
function hasStrangers(input: Omit<CustomerInput, "observed">): boolean {
  const ours = new Set(input.staff.map((staff) => formatKey(staff.key)));
  return input.known.assignments.some((assignment) => !ours.has(formatKey(assignment.staff)));
}

/** Plans one customer: pure, sorted, and the same for the same input. */
export function planCustomer(input: CustomerInput, options: PlanOptions): CustomerPlan {
  const { settings } = options;
  const fingerprint = fingerprintOf(input);
  const enterprise = planEnterprise(input, settings);
  const rejections = new StandingRejections(input.rejections, settings);
  const refused =
    enterprise.kind === "ready" ? enterprise.operations.map((item) => rejections.of(item)).find(Boolean) : undefined;
  const blocked =
    enterprise.kind === "blocked" ? enterprise.block : needsEnterprise(input, enterprise) ? refused : undefined;
  if (enterprise.kind === "blocked" || blocked !== undefined) {
    const records = blocked === undefined ? [] : blockedRecords(input, blocked, { ...options, rejections });
    return { customer: input.customer, operations: [], records, changes: [], waits: true, fingerprint };
  }
  const records: PlannedRecord[] = [];
  const operations = refused === undefined ? [...enterprise.operations] : [];
  const changes = [...enterprise.changes];
  if (input.desiredCustomer?.pending === true)
    records.push(recordOf("customers", input.customer, refused ?? enterprise.note));

  const orderOperations: Operation[] = [];
  for (const decision of planOrders(input, settings)) {
    const refusal = decision.operation === undefined ? undefined : rejections.of(decision.operation);
    if (decision.operation !== undefined && refusal === undefined) orderOperations.push(decision.operation);
    records.push(recordOf("orders", decision.key, refusal ?? decision.block));
  }
  operations.push(...orderOperations);

  const staffMatters =
    input.observed.members !== undefined ||
    input.known.link === undefined ||
    input.staff.some((staff) => staff.pending);
  if (staffMatters) planPeople(input, options, { orderOperations, rejections }, { operations, changes, records });
  const requested = planRequested(input, settings, { rejections, tried: options.tried ?? new Set() });
  operations.push(...requested.operations);
  // What the customer itself waits for comes first: it is looked at again, which a request that was refused is not.
  const waits =
    refused !== undefined || records.some(({ stream, outcome }) => stream === "customers" && outcome !== "planned");
  if (requested.block !== undefined && !waits) records.push(recordOf("customers", input.customer, requested.block));
  operations.sort(compareOperations);
  return { customer: input.customer, operations, records, changes, fingerprint };
}

function planPeople(
  input: CustomerInput,
  options: PlanOptions,
  before: { orderOperations: readonly Operation[]; rejections: StandingRejections },
  into: { operations: Operation[]; changes: StateChange[]; records: PlannedRecord[] },
): void {
  const people = planStaff(input, options.settings, { canSeal: options.canSeal, rejections: before.rejections });
  const privileges = planPrivileges(input, people.memberships, {
    ...before,
    revokesBlocked: options.revokesBlocked,
  });
  into.operations.push(...people.operations, ...privileges.operations);
  into.changes.push(...people.changes, ...privileges.changes);
  const served = new Set(
    [...people.operations, ...privileges.operations].flatMap((item) => item.records.map((record) => formatKey(record))),
  );
  const here = new Set(input.staff.map((staff) => formatKey(staff.key)));
  for (const [key, block] of privileges.blocks) {
    // A person who belongs elsewhere now: the customer itself keeps what is still to be taken away here in mind.
    if (!here.has(key)) into.records.push(recordOf("customers", input.customer, block));
  }
  for (const staff of input.staff) {
    const key = formatKey(staff.key);
    const membership = people.memberships.get(key);
    const block =
      (membership?.kind === "blocked" ? membership.block : undefined) ??
      privileges.blocks.get(key) ??
      people.notes.get(key);
    if (staff.state === "quarantined") continue;
    if (staff.pending || served.has(key) || (block !== undefined && block.again))
      into.records.push(recordOf("staff", staff.key, block));
  }
}

function recordOf(stream: Stream, key: RecordKey, block: Block | undefined): PlannedRecord {
  if (block === undefined) return { stream, key, outcome: "planned" };
  const { code, reason, again, rejected } = block;
  return { stream, key, outcome: rejected === true ? "rejected" : "deferred", code, reason, again };
}

/**
 * Whether nothing else can be done for a customer before its enterprise is made. A change of one that is there (E4)
 * stops nothing.
 */
function needsEnterprise(input: CustomerInput, stage: Extract<EnterpriseStage, { kind: "ready" }>): boolean {
  return input.known.link === undefined && stage.changes.length === 0;
}

/**
 * What waits for its customer. What is as the CRM wants it waits for nothing, nor does what is gone and was never on
 * the platform.
 */
function blockedRecords(
  input: CustomerInput,
  own: Block,
  options: PlanOptions & { rejections: StandingRejections },
): PlannedRecord[] {
  const theirs: Block = { code: "customer.blocked", reason: `waits for the customer: ${own.reason}`, again: true };
  const records: PlannedRecord[] = [];
  if (input.desiredCustomer?.pending === true && input.desiredCustomer.state !== "quarantined") {
    records.push(recordOf("customers", input.customer, own));
  }
  const { placedOrders, staffLinks } = input.known;
  const idle = idleRecords(input, options);
  for (const order of input.orders) {
    if (!order.pending || order.state === "quarantined") continue;
    const unwanted = order.state === "absent" || order.body.cancelled;
    const key = formatKey(order.key);
    const nothingLeft = idle.orders.has(key) || (unwanted && !placedOrders.has(key));
    records.push(recordOf("orders", order.key, nothingLeft ? undefined : theirs));
  }
  for (const staff of input.staff) {
    if (!staff.pending || staff.state === "quarantined") continue;
    const key = formatKey(staff.key);
    const nothingLeft = idle.staff.has(key) || (staff.state === "absent" && !staffLinks.has(key));
    records.push(recordOf("staff", staff.key, nothingLeft ? undefined : theirs));
  }
  return records;
}

/**
 * Orders and people of an enterprise that is there for whom nothing would be done, recorded or said, if their customer
 * did not have to wait.
 */
function idleRecords(
  input: CustomerInput,
  options: PlanOptions & { rejections: StandingRejections },
): { orders: ReadonlySet<string>; staff: ReadonlySet<string> } {
  const orders = new Set<string>();
  const staff = new Set<string>();
  if (input.known.link === undefined) return { orders, staff };
  const orderOperations: Operation[] = [];
  for (const { key, operation, block } of planOrders(input, options.settings)) {
    if (operation !== undefined) orderOperations.push(operation);
    else if (block === undefined) orders.add(formatKey(key));
  }
  const people: Parameters<typeof planPeople>[3] = { operations: [], changes: [], records: [] };
  planPeople(input, options, { orderOperations, rejections: options.rejections }, people);
  const busy = new Set([
    ...people.operations.flatMap((operation) => operation.records.map(formatKey)),
    ...people.changes.flatMap((change) => ("staff" in change ? [formatKey(change.staff)] : [])),
    ...people.changes.flatMap((change) =>
      change.type === "asset-revoked" ? holdersOf(input, change.assetNumber) : [],
    ),
  ]);
  for (const { stream, key, outcome } of people.records)
    if (stream === "staff" && outcome === "planned" && !busy.has(formatKey(key))) staff.add(formatKey(key));
  return { orders, staff };
}

function holdersOf({ known }: CustomerInput, assetNumber: string): string[] {
  return known.assignments.filter((item) => item.assetNumber === assetNumber).map((item) => formatKey(item.staff));
}

/** One fingerprint for each customer: desired versions and states, and what is known. */
export function fingerprintOf(input: Omit<CustomerInput, "observed">): string {
  const { known } = input;
  return hashOf([
    input.desiredCustomer === undefined ? null : [input.desiredCustomer.bodyHash, input.desiredCustomer.state],
    input.orders.map((order) => [formatKey(order.key), order.bodyHash, order.state]),
    input.staff.map((staff) => [formatKey(staff.key), staff.bodyHash, staff.state]),
    known.link === undefined ? null : known.link.enterpriseGlobalId,
    known.acknowledged ?? null,
    [...known.placedOrders.keys()],
    known.assignments.map((item) => [item.assetNumber, item.memberGlobalId]),
    [...known.staffLinks.values()].map((link) => link.memberGlobalId),
    ...(known.requests.length === 0
      ? []
      : [known.requests.map(({ of, about, wanted, askedAt }) => [of, about, wanted, askedAt])]),
  ]);
}
