import { recordName, type Block, type RecordOutcome } from "./plan/records.ts";
import { type ServiceName, endpoints } from "../contract/endpoints.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { EngineDependencies, CustomerState } from "./customer.ts";
import type { Snapshots } from "../platform/snapshot.ts";
import type { AssetNumbers } from "./deliver.ts";
import type { Settling } from "./settle.ts";
import type { Settled } from "./evidence.ts";
import type { Taking } from "./plan/limits.ts";
import type { Operation } from "./model/operation.ts";
import type { StateChange } from "./model/state.ts";
import type { Expected } from "./carry-out.ts";
import { counts, moveStopped, orderMoving } from "./plan/owner.ts";
import type { CustomerInput } from "./plan/input.ts";
import type { RefusedPerson } from "./model/operation-type.ts";
import type { RecordReference } from "./model/shape.ts";
import { isSameKey } from "./model/state-part.ts";
import { refusedPersonReason } from "./refusal.ts";

/** The input that a run gives to a pass over one customer. */
export interface CustomerAttempt {
  runId: string;
  signal: AbortSignal | undefined;
  /** Read the staff and check everything, even if nothing changed (resync). */
  thorough: boolean;
  takingBlocked: Block | undefined;
  /** The operations that limits and policies released in this run, by hash; undefined: not judged yet. */
  released: ReadonlyMap<string, Taking> | undefined;
  /** Apply only the chosen operations of this saved plan; if the customer's plan differs now, do nothing. */
  expected?: Expected | undefined;
  /** Called once the pass reads and sends nothing more, and only waits for commits. */
  onlyCommits?: (() => void) | undefined;
}

/** How often one pass may plan a customer: in a row with nothing done (`idle`), and in all (`total`). */
export const maxRounds = { idle: 24, total: 1000 };
/** Why a customer waits after that many plans. */
export const restless = {
  code: "customer.restless",
  reason: "the platform kept changing during the work on the customer",
};
/** The code of a customer that has an operation without a known outcome. */
export const operationOpen = "operation.open";
/** The code of a customer for which E3 does not show all platform customers yet that its orders need. */
export const customersNotShown = "enterprise.customers-not-shown";

/** Why a part of a customer was not done in a pass, with the text of what counts against a canary share. */
export const shortfalls = {
  /** A reading gave nothing, so everything that depends on it waits. */
  unread: undefined,
  unreached: "the service could not be reached",
  /** The order service could not be reached for asset numbers. */
  "no-numbers": undefined,
  "turned-away": "the service refuses this application",
  refused: "a service refused something of it",
  "in-vain": "an operation was sent, and its effect was never seen",
  /** Something about this customer blocks it; its records say why. */
  stuck: "an operation cannot be done",
  defect: "crm-sync failed at it",
};
export type Shortfall = keyof typeof shortfalls;

/** How a customer counts after its pass, by the worst of its shortfalls. */
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
  /** Something new that limits or policies may hold: the run judges it first over its total. */
  | { kind: "destructive"; takings: readonly Taking[]; ofUndo: boolean }
  | { kind: "waiting"; until: string; short?: ReadonlySet<Shortfall> }
  /** `moved`: why a saved plan no longer fits, as sentences for people. */
  | { kind: "stopped"; reason: StopReason; moved?: readonly string[] };

export interface ReconcileDependencies extends EngineDependencies {
  reader: Snapshots;
  settling: Settling;
  pool: AssetNumbers;
  /** Learns of every planned operation, of operations that may have changed the platform, and of recorded changes. */
  tally: {
    planned(operation: Operation): void;
    effected(operation: Operation): void;
    recorded(customer: RecordKey, changes: readonly StateChange[]): void;
  };
  /** How often this run sent each change without a known outcome, by kind, customer and subject. */
  unclear: Map<string, number>;
  /** Services that refuse this application as a whole (70001), with the reason; this run sends them nothing more. */
  refusing: Map<ServiceName, string>;
}

/** Why planned operations were not attempted, by the reason that stopped the customer. */
export const stopReasons = {
  unknown: "the outcome of an earlier operation is not known",
  parked: "an earlier operation waits for a person",
  aborted: "the run was stopped",
  stale: "the saved plan no longer fits",
  paused: "crm-sync is paused",
} as const;
/** Why a pass ends before it tried everything of the customer. */
export type StopReason = keyof typeof stopReasons;

/** Why something is not done in this pass; `again`: the next run looks at it again. */
export type Why = Pick<Block, "code" | "reason" | "again">;

export function serviceOf(operation: Pick<Operation, "endpoint">): ServiceName {
  return endpoints[operation.endpoint].service;
}

/** An open operation of a customer: why its records wait, and how the pass ends. */
export interface LeftOpen {
  code: string;
  reason: string;
  end: CustomerAttemptResult;
}

/** Settles the open operations of a customer. While one stays open, nothing else of the customer is done. */
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

/** The progress of a pass over a customer. CustomerState has the facts about the customer. */
export class Progress {
  /** Journal ids of operations that the journal already had as planned or held, by hash. */
  stored: ReadonlyMap<string, string> = new Map();
  readonly announced = new Map<string, Operation>();
  /** Operations that were sent, put off or given up, by hash; the pass does not look at them again. */
  readonly delivered = new Set<string>();
  /** Refused for one of several people: the next plan of this pass sends them in parts. */
  inParts: Operation[] = [];
  readonly outcomes = new RecordOutcomes();
  done = 0;
  readonly short = new Set<Shortfall>();
  /** Services that could not be reached; this pass sends them nothing more. */
  readonly unreached = new Set<ServiceName>();

  /** Subjects of operations that this pass sent, put off or gave up. */
  get tried(): Set<string> {
    const tried = this.announced.values().filter(({ hash }) => this.delivered.has(hash));
    return new Set(tried.map(({ subject }) => subject));
  }

  /** Planned operations that were neither sent, put off nor given up. */
  get left(): Operation[] {
    return [...this.announced.values()].filter(({ hash }) => !this.delivered.has(hash));
  }

  plan(operations: readonly Operation[], records: readonly RecordOutcome[]): void {
    for (const operation of operations)
      if (!this.announced.has(operation.hash)) this.announced.set(operation.hash, operation);
    this.inParts = [];
    this.outcomes.note(records);
  }

  /** It is not sent now, so its records wait. */
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

  /** Refused because of its records; `shared`: because of one of several people, who are then sent in parts. */
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

/** Makes every pending and usable record of a customer wait for one reason. */
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
  /** Records whose outcome a later plan of the pass does not replace, although it still contains their operation. */
  readonly #final = new Set<string>();

  get all(): RecordOutcome[] {
    return [...this.#all.values()];
  }

  /** Whether the pass has an outcome for a record; it has one for each of its own records that it looks at. */
  has(stream: Stream, key: RecordKey): boolean {
    return this.#all.has(recordName(stream, key));
  }

  /** Adds outcomes that a later plan may replace, because they were only planned or rejected. */
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

  /**
   * The records of operations that a service keeps from being sent wait. A record that already waits or was rejected
   * keeps its outcome, unless the next run would then skip the unsent operation.
   */
  unsent(operations: readonly Operation[], { code, reason }: Omit<Why, "again">): void {
    for (const operation of operations) {
      const why = { code, reason: `${operation.endpoint}: ${reason}`, again: true };
      for (const record of this.mattersOf(operation)) {
        const said = this.#all.get(recordName(record.stream, record));
        const isAgain = said?.outcome === "deferred" && said.again === true;
        if (!isAgain && !this.#waitsForItself(operation, record)) this.wait([record], why);
      }
    }
  }

  /** The records that the next run must look at again, because these operations were not sent. */
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

  /** Orders that were transferred here and wait until everything at their previous customer is removed. */
  get moving(): RecordKey[] {
    return this.all.filter(({ stream, code }) => stream === "orders" && code === orderMoving).map(({ key }) => key);
  }

  /** Whether an order that was transferred away stays here, because its new customer can buy nothing. */
  get keepsMoved(): boolean {
    return this.all.some(({ code }) => code === moveStopped);
  }

  /** The records that an operation concerns; the customer instead of those that this pass decides nothing for. */
  mattersOf({ customer, records }: Pick<Operation, "customer" | "records">): RecordReference[] {
    return records.map((record) => (this.has(record.stream, record) ? record : { stream: "customers", ...customer }));
  }

  /**
   * Whether a record of the operation waits for a decision or a change, so that its operation waits too. A mere report
   * on it, or on the customer that the operation concerns, holds nothing back.
   */
  #waitsForItself({ records }: Operation, record: RecordReference): boolean {
    const said = this.#all.get(recordName(record.stream, record));
    if (said === undefined || !records.some((own) => own.stream === record.stream && isSameKey(own, record)))
      return false;
    return said.outcome === "rejected" || (said.outcome === "deferred" && counts(said.code ?? ""));
  }
}
