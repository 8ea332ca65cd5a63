import type { JsonObject } from "../../base/canonical-json.ts";
import { headsPath, readKeptHeads } from "./audit-heads.ts";
import { verifyChain } from "./audit-log.ts";
import type { AuditHead, AuditRow, AuditVerdict } from "./audit-log.ts";
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

  verify(keptHeads?: readonly AuditHead[]): AuditVerdict {
    return verifyChain(this.rows(), keptHeads ?? readKeptHeads(headsPath(this.#context.path)));
  }
}
