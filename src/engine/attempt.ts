import { recordName, type Block, type RecordOutcome } from "./plan/blocks.ts";
import { type ServiceName, endpoints } from "../contract/endpoints.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { EngineDependencies, CustomerState } from "./customer.ts";
import type { Snapshots } from "../platform/snapshot.ts";
import type { AssetNumbers } from "./deliver.ts";
import type { Settling } from "./settle.ts";
import type { Settled } from "./evidence.ts";
import type { Holdable } from "./plan/limits.ts";
import type { Operation } from "./model/operation.ts";
import { type StateChange, isSameKey } from "./model/state.ts";
import type { Expected } from "./carry-out.ts";
import { counts, moveStopped, orderMoving } from "./plan/owner.ts";
import type { CustomerInput } from "./plan/input.ts";
import type { RefusedPerson } from "./model/operation-type.ts";
import type { RecordReference } from "./model/resource.ts";
import { refusedPersonReason } from "./refusal.ts";

export interface CustomerAttempt {
  runId: string;
  signal: AbortSignal | undefined;
  thorough: boolean;
  removalsBlocked: Block | undefined;
  /** Operations that limits and policies released in this run, by hash. Undefined: not judged yet. */
  released: ReadonlyMap<string, Holdable> | undefined;
  /** Apply only the chosen operations of this saved plan. If the customer's plan has changed, do nothing. */
  expected?: Expected | undefined;
  onlyCommits?: (() => void) | undefined;
}

/** How often one pass may plan a customer: in a row with nothing done (`idle`), and in all (`total`). */
export const maxRounds = { idle: 24, total: 1000 };
export const restless = {
  code: "customer.restless",
  reason: "the platform kept changing during the work on the customer",
};
export const operationOpen = "operation.open";
export const customersNotShown = "enterprise.customers-not-shown";

/** Why a part of a customer was not done. If it has a text, it stops a canary: the share counts as gone wrong. */
export const shortfalls = {
  unread: undefined,
  unreached: "the service could not be reached",
  "no-numbers": undefined,
  "turned-away": "the service refuses this application",
  refused: "a service refused something of it",
  "in-vain": "an operation was sent, and its effect was never seen",
  stuck: "an operation cannot be done",
  defect: "crm-sync failed at it",
};
export type Shortfall = keyof typeof shortfalls;

export function countedAs(short: ReadonlySet<Shortfall>): "unreadable" | "defects" | "rejected" | "finished" {
  const has = (...some: readonly Shortfall[]): boolean => some.some((one) => short.has(one));
  if (has("unread", "unreached", "no-numbers")) return "unreadable";
  if (has("defect")) return "defects";
  return has("refused", "turned-away") ? "rejected" : "finished";
}

export type CustomerAttemptResult =
  /**
   * `moving`: orders transferred to this customer in the CRM that still exist in part at their previous customer.
   * `keeps`: an order transferred away stays here, because its new customer can buy nothing.
   */
  | { kind: "finished"; short: ReadonlySet<Shortfall>; moving?: readonly RecordKey[]; keeps?: boolean }
  /** Limits or policies may hold these. The run judges them first, over its total. */
  | { kind: "to-judge"; holdables: readonly Holdable[]; ofUndo: boolean }
  | { kind: "waiting"; until: string; short?: ReadonlySet<Shortfall> }
  | { kind: "stopped"; reason: StopReason; moved?: readonly string[] };

export interface ReconcileDependencies extends EngineDependencies {
  reader: Snapshots;
  settling: Settling;
  pool: AssetNumbers;
  /** `effected`: operations that may have changed the platform. */
  tally: {
    planned(operation: Operation): void;
    effected(operation: Operation): void;
    recorded(customer: RecordKey, changes: readonly StateChange[]): void;
  };
  /** How often this run sent each change without a known outcome, by kind, customer and subject. */
  unclear: Map<string, number>;
  /** Services that refuse this application as a whole (70001). This run sends them nothing more. */
  refusing: Map<ServiceName, string>;
}

export const stopReasons = {
  unknown: "the outcome of an earlier operation is not known",
  parked: "an earlier operation waits for a person",
  aborted: "the run was stopped",
  stale: "the records changed after they were planned",
  paused: "crm-sync is paused",
} as const;
export type StopReason = keyof typeof stopReasons;

export type Why = Pick<Block, "code" | "reason" | "again">;

export function serviceOf(operation: Pick<Operation, "endpoint">): ServiceName {
  return endpoints[operation.endpoint].service;
}

export interface LeftOpen {
  code: string;
  reason: string;
  end: CustomerAttemptResult;
}

/** While one operation stays open, nothing else of the customer is done. */
export async function settleOpen(
  { ledger, settling }: Pick<ReconcileDependencies, "ledger" | "settling">,
  knows: CustomerState,
  { runId, signal }: Pick<CustomerAttempt, "runId" | "signal">,
): Promise<LeftOpen | undefined> {
  for (const row of await ledger.journal.openOf(knows.customer)) {
    const settled = await settling.settle(row, { runId, signal, knows });
    if (settled.kind === "done" || settled.kind === "dropped" || settled.kind === "rejected") continue;
    const { endpoint, subject } = row.operation;
    const reason = `waits until the outcome of ${endpoint} on ${subject} (${row.id}) is known`;
    return { code: operationOpen, reason, end: endOf(settled) };
  }
  return undefined;
}

function endOf(settled: Settled): CustomerAttemptResult {
  if (settled.kind === "waiting") return { kind: "waiting", until: settled.until };
  if (settled.kind === "parked" || settled.kind === "paused") return { kind: "stopped", reason: settled.kind };
  return { kind: "finished", short: new Set(["unread"]) };
}

export class Progress {
  stored: ReadonlyMap<string, string> = new Map();
  readonly announced = new Map<string, Operation>();
  /** Operations that were sent, put off or given up, by hash. The pass leaves them alone. */
  readonly delivered = new Set<string>();
  /** Rejected for one of several people. The next plan of this pass sends them in parts. */
  inParts: Operation[] = [];
  readonly outcomes = new RecordOutcomes();
  done = 0;
  readonly short = new Set<Shortfall>();
  readonly unreached = new Set<ServiceName>();

  get tried(): Set<string> {
    const tried = this.announced.values().filter(({ hash }) => this.delivered.has(hash));
    return new Set(tried.map(({ subject }) => subject));
  }

  get left(): Operation[] {
    return [...this.announced.values()].filter(({ hash }) => !this.delivered.has(hash));
  }

  plan(operations: readonly Operation[], records: readonly RecordOutcome[]): void {
    for (const operation of operations)
      if (!this.announced.has(operation.hash)) this.announced.set(operation.hash, operation);
    this.inParts = [];
    this.outcomes.note(records);
  }

  putOff(operation: Operation, why: Why, short?: Shortfall): void {
    this.delivered.add(operation.hash);
    if (short !== undefined) this.short.add(short);
    this.outcomes.wait(this.outcomes.mattersOf(operation), why);
  }

  carriedOut(operation: Operation, refused: readonly RefusedPerson[] = []): void {
    this.delivered.add(operation.hash);
    this.done += 1;
    for (const { key, message } of refused) {
      this.short.add("refused");
      const why = { code: "staff.refused", reason: refusedPersonReason(message) };
      this.outcomes.reject([{ stream: "staff", ...key }], why);
    }
  }

  /** `shared`: one of several people is at fault, so they are sent in parts. */
  refused(operation: Operation, why: Omit<Why, "again">, shared: boolean): void {
    this.delivered.add(operation.hash);
    if (shared) this.inParts.push(operation);
    else {
      this.short.add("refused");
      this.outcomes.reject(this.outcomes.mattersOf(operation), why);
    }
  }

  notReached(operation: Operation, why: Omit<Why, "again">): void {
    this.outcomes.unsent([operation], why);
    this.delivered.add(operation.hash);
    this.short.add("unreached");
    this.unreached.add(serviceOf(operation));
  }
}

export function deferredOf(
  { desiredCustomer, orders, staff }: Pick<CustomerInput, "desiredCustomer" | "orders" | "staff">,
  why: Why,
): RecordOutcome[] {
  const waiting = (
    stream: Stream,
    items: readonly Pick<CustomerInput["staff"][number], "key" | "pending" | "state">[],
  ) =>
    items
      .filter(({ pending, state }) => pending && state !== "quarantined")
      .map(({ key }): RecordOutcome => ({ stream, key, outcome: "deferred", ...why }));
  return [
    ...waiting("customers", desiredCustomer === undefined ? [] : [desiredCustomer]),
    ...waiting("orders", orders),
    ...waiting("staff", staff),
  ];
}

function keyOf({ namespace, id }: RecordReference): RecordKey {
  return { namespace, id };
}

export class RecordOutcomes {
  readonly #all = new Map<string, RecordOutcome>();
  /** A later plan of the pass does not replace these outcomes, even if it contains their operation. */
  readonly #final = new Set<string>();

  get all(): RecordOutcome[] {
    return [...this.#all.values()];
  }

  /** The pass has an outcome for each of its own records that it looks at. */
  has(stream: Stream, key: RecordKey): boolean {
    return this.#all.has(recordName(stream, key));
  }

  isRejected(record: RecordReference): boolean {
    return this.#all.get(recordName(record.stream, record))?.outcome === "rejected";
  }

  note(outcomes: readonly RecordOutcome[]): void {
    for (const outcome of outcomes) {
      const name = recordName(outcome.stream, outcome.key);
      if (!this.#final.has(name)) this.#all.set(name, outcome);
    }
  }

  reject(records: readonly RecordReference[], why: Omit<Why, "again">): void {
    const { code, reason } = why;
    this.note(records.map((one) => ({ stream: one.stream, key: keyOf(one), outcome: "rejected", code, reason })));
  }

  wait(records: readonly RecordReference[], { code, reason, again }: Why): void {
    for (const record of records) {
      const key = keyOf(record);
      const name = recordName(record.stream, key);
      this.#all.set(name, { stream: record.stream, key, outcome: "deferred", code, reason, again });
      this.#final.add(name);
    }
  }

  /** A record that waits or was rejected keeps its outcome, unless the next run would then skip the operation. */
  unsent(operations: readonly Operation[], { code, reason }: Omit<Why, "again">): void {
    for (const operation of operations) {
      const why = { code, reason: `${operation.endpoint}: ${reason}`, again: true };
      for (const record of this.mattersOf(operation)) {
        const name = recordName(record.stream, record);
        const said = this.#all.get(name);
        // A later plan of the pass, without this operation, must not end it.
        if (said?.outcome === "deferred" && said.again === true) this.#final.add(name);
        else if (!this.#waitsForItself(operation, record)) this.wait([record], why);
      }
    }
  }

  unfinished(unsent: readonly Operation[]): { stream: Stream; key: RecordKey }[] {
    const planned = this.all.filter(({ outcome }) => outcome === "planned");
    const left = unsent.flatMap((operation) =>
      this.mattersOf(operation).filter((record) => !this.#waitsForItself(operation, record)),
    );
    return [
      ...planned.map(({ stream, key }) => ({ stream, key })),
      ...left.map((record) => ({ stream: record.stream, key: keyOf(record) })),
    ];
  }

  get moving(): RecordKey[] {
    return this.all.filter(({ stream, code }) => stream === "orders" && code === orderMoving).map(({ key }) => key);
  }

  /** Whether an order that was transferred away stays here, because its new customer can buy nothing. */
  get keepsMoved(): boolean {
    return this.all.some(({ code }) => code === moveStopped);
  }

  /** The customer replaces records that this pass decides nothing about. */
  mattersOf({ customer, records }: Pick<Operation, "customer" | "records">): RecordReference[] {
    return records.map((record) => (this.has(record.stream, record) ? record : { stream: "customers", ...customer }));
  }

  /** The record waits for a decision or a change, so its operation waits too. A mere report holds nothing back. */
  #waitsForItself({ records }: Operation, record: RecordReference): boolean {
    const said = this.#all.get(recordName(record.stream, record));
    if (said === undefined || !records.some((own) => own.stream === record.stream && isSameKey(own, record)))
      return false;
    return said.outcome === "rejected" || (said.outcome === "deferred" && counts(said.code ?? ""));
  }
}
