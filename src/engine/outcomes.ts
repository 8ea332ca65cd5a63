import { GrowingMap } from "../base/growing-map.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { counts, orderMoving } from "./plan/owner.ts";
import type { RecordOutcome } from "./plan/records.ts";
import type { CustomerInput } from "./plan/input.ts";
import type { Operation } from "./model/operation.ts";
import type { RecordReference } from "./model/shape.ts";
import { isSameKey } from "./model/state-part.ts";

/** Why something is not done in this pass; `again`: the next run looks at it again. */
export interface Why {
  code: string;
  reason: string;
  again: boolean;
}

/** Makes every pending and usable record of a customer wait for one reason. */
export function deferredOf(
  loaded: Pick<CustomerInput, "desiredCustomer" | "orders" | "staff">,
  why: Why,
): RecordOutcome[] {
  const { desiredCustomer, orders, staff } = loaded;
  const all = [
    ...(desiredCustomer === undefined ? [] : [{ stream: "customers" as const, item: desiredCustomer }]),
    ...orders.map((item) => ({ stream: "orders" as const, item })),
    ...staff.map((item) => ({ stream: "staff" as const, item })),
  ];
  return all
    .filter(({ item }) => item.pending && item.state !== "quarantined")
    .map(({ stream, item }) => ({ stream, key: item.key, outcome: "deferred", ...why }));
}

/** The outcome of one pass for each record. */
export interface RecordOutcomes {
  readonly all: GrowingMap<string, RecordOutcome>;
  /** Records whose outcome a later plan of the pass does not replace, although it still contains their operation. */
  readonly final: GrowingMap<string, true>;
}

export const noOutcomes: RecordOutcomes = { all: GrowingMap.empty(), final: GrowingMap.empty() };

function nameOf(stream: Stream, key: RecordKey): string {
  return `${stream} ${formatKey(key)}`;
}

/** Whether a pass has an outcome for a record; it has one for each of its own records that it looks at. */
export function hasOutcome({ all }: RecordOutcomes, stream: Stream, key: RecordKey): boolean {
  return all.has(nameOf(stream, key));
}

/** Adds outcomes. A `final` outcome stays; a later plan may replace one that was only planned or rejected. */
export function noted(before: RecordOutcomes, outcomes: readonly RecordOutcome[], final = false): RecordOutcomes {
  const named = outcomes.map((outcome) => [nameOf(outcome.stream, outcome.key), outcome] as const);
  if (final)
    return { all: before.all.with(named), final: before.final.with(named.map(([name]) => [name, true] as const)) };
  return { all: before.all.with(named.filter(([name]) => !before.final.has(name))), final: before.final };
}

/** Orders that were transferred here and wait until everything at their previous customer is removed. */
export function movingIn({ all }: RecordOutcomes): RecordKey[] {
  return all
    .values()
    .filter((item) => item.stream === "orders" && item.code === orderMoving)
    .map(({ key }) => key);
}

/** Records whose operations were planned. */
export function plannedIn({ all }: RecordOutcomes): { stream: Stream; key: RecordKey }[] {
  return all
    .values()
    .filter((item) => item.outcome === "planned")
    .map(({ stream, key }) => ({ stream, key }));
}

/**
 * The records that an operation concerns. Somebody may hold something here but belong to another customer now. If this
 * pass decides nothing for that record, the customer here counts instead.
 */
function mattersOf(outcomes: RecordOutcomes, operation: Pick<Operation, "customer" | "records">): RecordReference[] {
  const { customer, records } = operation;
  return records.map((record) =>
    outcomes.all.has(nameOf(record.stream, record)) ? record : { stream: "customers", ...customer },
  );
}

/** The records of an operation that is not sent wait, with the reason. */
export function deferred(before: RecordOutcomes, operation: Operation, why: Why): RecordOutcomes {
  return deferredRecords(before, mattersOf(before, operation), why);
}

export function deferredRecords(before: RecordOutcomes, records: readonly RecordReference[], why: Why): RecordOutcomes {
  const outcomes = records.map(({ stream, namespace, id }): RecordOutcome => {
    return { stream, key: { namespace, id }, outcome: "deferred", ...why };
  });
  return noted(before, outcomes, true);
}

/**
 * The records of an operation that a service keeps from being sent wait. A record that already waits or was rejected
 * keeps its outcome, unless the next run would then skip the unsent operation.
 */
export function deferredUnsent(
  before: RecordOutcomes,
  operations: readonly Operation[],
  { code, reason }: Omit<Why, "again">,
): RecordOutcomes {
  const waiting = new Map<string, RecordOutcome>();
  for (const operation of operations) {
    for (const { stream, namespace, id } of mattersOf(before, operation)) {
      const key = { namespace, id };
      const name = nameOf(stream, key);
      const said = before.all.get(name);
      const isAgain = said?.outcome === "deferred" && said.again === true;
      if (waiting.has(name) || isAgain || waitsForItself(before, operation, { stream, key })) continue;
      const why = { code, reason: `${operation.endpoint}: ${reason}`, again: true };
      waiting.set(name, { stream, key, outcome: "deferred", ...why });
    }
  }
  return noted(before, [...waiting.values()], true);
}

/** The records that the next run must look at again, because these operations were not sent. */
export function unfinishedIn(
  outcomes: RecordOutcomes,
  unsent: readonly Operation[],
): { stream: Stream; key: RecordKey }[] {
  const left = unsent.flatMap((operation) =>
    mattersOf(outcomes, operation)
      .map(({ stream, namespace, id }) => ({ stream, key: { namespace, id } }))
      .filter((record) => !waitsForItself(outcomes, operation, record)),
  );
  return [...plannedIn(outcomes), ...left];
}

/**
 * Whether a record of the operation waits for a decision or a change, so that its operation waits too. A mere report on
 * it, or on the customer that the operation concerns, holds nothing back.
 */
function waitsForItself(
  { all }: RecordOutcomes,
  { records }: Operation,
  { stream, key }: { stream: Stream; key: RecordKey },
): boolean {
  const said = all.get(nameOf(stream, key));
  if (said === undefined || !records.some((own) => own.stream === stream && isSameKey(own, key))) return false;
  return said.outcome === "rejected" || (said.outcome === "deferred" && counts(said.code ?? ""));
}

/** Not final: the next plan of the pass repeats the rejection, or replaces it if something changed since. */
export function rejected(
  before: RecordOutcomes,
  operation: Operation,
  { code, reason }: Omit<Why, "again">,
): RecordOutcomes {
  return rejectedRecords(before, mattersOf(before, operation), { code, reason });
}

export function rejectedRecords(
  before: RecordOutcomes,
  records: readonly RecordReference[],
  { code, reason }: Omit<Why, "again">,
): RecordOutcomes {
  const outcomes = records.map(({ stream, namespace, id }): RecordOutcome => {
    return { stream, key: { namespace, id }, outcome: "rejected", code, reason };
  });
  return noted(before, outcomes);
}
