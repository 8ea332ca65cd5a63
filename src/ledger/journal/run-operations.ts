import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { journalRow, operationColumns } from "./journal-row.ts";
import type { JournalRow, OperationRow } from "./journal-row.ts";

/** What runs carried out. */
export class RunOperations {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
      held: () =>
        database.prepare<[], { id: string }>("select id from operation indexed by operation_held where state = 'held'"),
      doneOf: () =>
        database.prepare<[string], OperationRow>(
          `select ${operationColumns} from operation o indexed by operation_by_run
           where o.run_id = +? and o.state = 'done' order by o.updated_at desc, o.id desc`,
        ),
      newestWithDone: () =>
        database.prepare<[], { id: string }>(
          `select r.id from run r where exists (select 1 from operation o indexed by operation_by_run
             where o.run_id = r.id and o.state = 'done' and o.customer_id <> '')
           order by r.id desc limit 1`,
        ),
    });
  }

  /** The newest run that carried something out for a customer; undefined where none did. */
  newestWithDone(): string | undefined {
    return this.#statements.newestWithDone.get()?.id;
  }

  /** The ids of all operations that wait for a person, or with what does: the next run carries them in. */
  held(): string[] {
    return this.#statements.held.all().map(({ id }) => id);
  }

  /** What a run carried out, newest first. */
  doneOf(run: string): JournalRow[] {
    return this.#statements.doneOf.all(run).map(journalRow);
  }
}
