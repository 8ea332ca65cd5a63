import type { RecordKey, Stream } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import { statements } from "../database/statements.ts";
import type { Row } from "../tables.ts";
import type { IngestedRecord, IngestedRejection, RecordTables } from "./record-tables.ts";
import { SourceReadTables } from "./source-reads.ts";

/** A stored raw form with what it maps to now. */
export interface MappedForm {
  key: RecordKey;
  item: { record: IngestedRecord } | { rejection: IngestedRejection };
}

type Became = "changed" | "unchanged" | "quarantined";

/** Takes up what stored raw forms map to now. Nothing was read, so nothing counts as seen, and nothing as gone. */
export class Remapping {
  readonly #context: LedgerContext;
  readonly #records: RecordTables;
  readonly #reads: SourceReadTables;
  readonly #statements;

  constructor(context: LedgerContext, records: RecordTables) {
    this.#context = context;
    this.#records = records;
    this.#reads = new SourceReadTables(context.database);
    this.#statements = statements.onUse({
      seenLast: () =>
        context.database.prepare<[string, string, string], Row<"record", "last_read" | "missed">>(
          "select last_read, missed from record where stream = +? and namespace = +? and id = +?",
        ),
      keepMissed: () =>
        context.database.prepare("update record set missed = ? where stream = +? and namespace = +? and id = +?"),
    });
  }

  /** The fingerprints of mappings that readings of a stream were made with, the newest first. */
  async mappingsOf(source: string, stream: Stream): Promise<string[]> {
    return this.#context.read(() => this.#reads.mappingsOf(source, stream));
  }

  /** Takes these up in one transaction, and counts what became of them. */
  async take(source: string, stream: Stream, forms: readonly MappedForm[]): Promise<Record<Became, number>> {
    return await this.#context.write(() => {
      const counts = { changed: 0, unchanged: 0, quarantined: 0 };
      for (const form of forms) counts[this.#takeOne(source, stream, form)] += 1;
      return counts;
    });
  }

  /** When the record was seen last, and whether it is missed, stays as it is. */
  #takeOne(source: string, stream: Stream, { key, item }: MappedForm): Became {
    const { namespace, id } = key;
    const row = this.#statements.seenLast.get(stream, namespace, id);
    if (row === undefined) return "unchanged";
    let became: Became = "quarantined";
    if ("rejection" in item) {
      const { rejection } = item;
      this.#records.reject(source, stream, row.last_read, rejection, { ofStoredForm: true });
    }
    if ("record" in item)
      became = this.#records.ingest(source, stream, row.last_read, null, item.record, { retried: true }).became;
    if (row.missed > 0) this.#statements.keepMissed.run(row.missed, stream, namespace, id);
    return became;
  }
}
