import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { RecordOutcome } from "../ledger/work.ts";
import type { CustomerInput } from "../plan/input.ts";
import type { Operation, RecordReference } from "../operation/operation.ts";

/** Defers every record of a customer that something has to be done about, and that can be used, for one reason. */
export function deferredOf(
  loaded: Pick<CustomerInput, "desiredCustomer" | "orders" | "staff">,
  why: { code: string; reason: string; again: boolean },
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

/** What a pass over one customer came to for each record. */
export class Outcomes {
  readonly #outcomes = new Map<string, RecordOutcome>();
  readonly #final = new Set<string>();

  get all(): RecordOutcome[] {
    return [...this.#outcomes.values()];
  }

  /** Records whose operations were planned. */
  get planned(): { stream: Stream; key: RecordKey }[] {
    return this.all.filter((item) => item.outcome === "planned").map(({ stream, key }) => ({ stream, key }));
  }

  /** What an attempt came to (`final`) stands: a later plan of the pass, which still holds the operation, does not make it "planned" again. */
  note(outcome: RecordOutcome, final = false): void {
    const key = `${outcome.stream} ${formatKey(outcome.key)}`;
    if (!final && this.#final.has(key)) return;
    if (final) this.#final.add(key);
    this.#outcomes.set(key, outcome);
  }

  defer(records: readonly RecordReference[], code: string, reason: string, again: boolean): void {
    for (const { stream, namespace, id } of records)
      this.note({ stream, key: { namespace, id }, outcome: "deferred", code, reason, again }, true);
  }

  /** What a service keeps from being sent is not done, and counts as such until it is. What was deferred or refused already stays so. */
  deferUnsent(operations: readonly Operation[], code: string, reason: string): void {
    const planned = new Set(this.planned.map(({ stream, key }) => `${stream} ${formatKey(key)}`));
    for (const { endpoint, records } of operations) {
      const waiting = records.filter((record) => planned.has(`${record.stream} ${formatKey(record)}`));
      this.defer(waiting, code, `${endpoint}: ${reason}`, true);
    }
  }

  /** Not final: the next plan of the pass says it too, or that it is otherwise by then. */
  reject(records: readonly RecordReference[], code: string, reason: string): void {
    for (const { stream, namespace, id } of records)
      this.note({ stream, key: { namespace, id }, outcome: "rejected", code, reason });
  }
}
