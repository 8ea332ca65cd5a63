import type { Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";

/** What streams left behind that are configured no longer. Runs inside the writer's transaction. */
export class UnconfiguredTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** Before a run has said what is configured, every source is. */
  isConfigured(source: string, stream: Stream): boolean {
    return this.#statements.configured.get(source, stream)?.configured !== 0;
  }

  /**
   * Their rows in quarantine are resolved; what they blocked goes on, and whoever else claimed their records is read
   * anew.
   */
  forget(now: string): void {
    this.#statements.resolve.run(now);
    this.#statements.wake.run();
    this.#statements.unblock.run();
  }
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    configured: () =>
      database.prepare<[string, string], { configured: number }>(
        `select not exists (select 1 from source_stream)
          or exists (select 1 from source_stream where source = +? and stream = +?) as configured`,
      ),
    resolve: () =>
      database.prepare(
        `update quarantine set state = 'resolved', resolved_at = ?, resolution = 'its source is configured no longer'
       where state <> 'resolved' and (source, stream) not in (select source, stream from source_stream)`,
      ),
    wake: () =>
      database.prepare(
        `update quarantine set state = 'retry' where code = 'claimed-twice' and state = 'open' and state <> 'resolved'
       and exists (select 1 from record r where r.stream = quarantine.stream and r.namespace = quarantine.namespace
         and r.id = quarantine.record_id
         and (r.source, r.stream) not in (select source, stream from source_stream))`,
      ),
    unblock: () =>
      database.prepare(
        `update record indexed by record_quarantined set state = 'current'
         where state = 'quarantined' and not exists (
         select 1 from quarantine q where q.stream = record.stream and q.namespace = record.namespace
           and q.record_id = record.id
         and q.state <> 'resolved')`,
      ),
  });
}
