import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { RecordOutcome } from "../ledger/records/work.ts";
import type { CustomerInput } from "../plan/input.ts";
import type { Operation } from "../operation/operation.ts";
import type { RecordReference } from "../operation/shape.ts";

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

/** What an attempt at one customer came to for each record. */
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

  /**
   * What an attempt came to (`final`) stands: a later plan of the attempt, which still holds the operation, does not
   * make it "planned" again.
   */
  note(outcome: RecordOutcome, final = false): void {
    const key = `${outcome.stream} ${formatKey(outcome.key)}`;
    if (!final && this.#final.has(key)) return;
    if (final) this.#final.add(key);
    this.#outcomes.set(key, outcome);
  }

  /**
   * The records that an operation is a matter of. What somebody holds here who belongs elsewhere now, and of whom this
   * attempt decides nothing, is the matter of the customer here: the record waits with its own customer.
   */
  mattersOf({ customer, records }: Pick<Operation, "customer" | "records">): RecordReference[] {
    return records.map((record) =>
      this.#outcomes.has(`${record.stream} ${formatKey(record)}`) ? record : { stream: "customers", ...customer },
    );
  }

  defer(records: readonly RecordReference[], code: string, reason: string, again: boolean): void {
    for (const { stream, namespace, id } of records)
      this.note({ stream, key: { namespace, id }, outcome: "deferred", code, reason, again }, true);
  }

  /**
   * What a service keeps from being sent is not done, and counts as such until it is. What was deferred or refused
   * already stays so.
   */
  deferUnsent(operations: readonly Operation[], code: string, reason: string): void {
    for (const operation of operations) {
      const { endpoint } = operation;
      const waiting = this.mattersOf(operation).filter((record) => {
        const outcome = this.#outcomes.get(`${record.stream} ${formatKey(record)}`)?.outcome ?? "planned";
        return outcome === "planned";
      });
      this.defer(waiting, code, `${endpoint}: ${reason}`, true);
    }
  }

  /** Not final: the next plan of the attempt says it too, or that it is otherwise by then. */
  reject(records: readonly RecordReference[], code: string, reason: string): void {
    for (const { stream, namespace, id } of records)
      this.note({ stream, key: { namespace, id }, outcome: "rejected", code, reason });
  }
}
