import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { RecordOutcome } from "../ledger/work.ts";
import type { RecordReference } from "../plan/operation.ts";

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

  /** Not final: the next plan of the pass says it too, or that it is otherwise by then. */
  reject(records: readonly RecordReference[], code: string, reason: string): void {
    for (const { stream, namespace, id } of records)
      this.note({ stream, key: { namespace, id }, outcome: "rejected", code, reason });
  }
}
