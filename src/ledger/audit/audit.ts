import type { JsonObject } from "../../base/canonical-json.ts";
import { headsPath, readKeptHeads } from "./audit-heads.ts";
import type { AuditHead, AuditRow } from "./audit-log.ts";
import { keptOf } from "./kept-tree.ts";
import { verifyRecord } from "./verify-log.ts";
import type { AuditVerdicts } from "./verify-log.ts";
import type { LedgerContext } from "../context.ts";

/** The append-only, hash-chained record, beside the entries that other concerns append with what they describe. */
export class Audit {
  readonly #context: LedgerContext;

  constructor(context: LedgerContext) {
    this.#context = context;
  }

  /** Appends an entry that stands for itself, such as a person's decision. */
  async append(entry: { kind: string; subject: string; body: JsonObject }): Promise<AuditHead> {
    return await this.#context.write(() => this.#context.audit.append({ ...entry, at: this.#context.now }));
  }

  head(): AuditHead | undefined {
    return this.#context.read(() => this.#context.audit.head());
  }

  rows(): IterableIterator<AuditRow> {
    return this.#context.database
      .prepare<[], AuditRow>(
        "select sequence, format, at, kind, subject, body, previous, hash from audit order by sequence",
      )
      .iterate();
  }

  /** The whole record, with the tree and the guards that the database keeps and the heads beside it. */
  verify(heads?: readonly AuditHead[]): AuditVerdicts {
    const { database, path } = this.#context;
    return this.#context.readTogether(() =>
      verifyRecord({ rows: this.rows(), heads: heads ?? readKeptHeads(headsPath(path)), ...keptOf(database) }),
    );
  }
}
