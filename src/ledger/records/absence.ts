import { toInstant } from "../../base/clock.ts";
import type { Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";

/** When a record that is missing counts as gone: after so many whole reads in a row, over so long a time. */
export interface AbsenceRule {
  reads: number;
  ms: number;
}

/** What whole reads say about records that they lack. Runs inside the writer's transaction. */
export class AbsenceTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /**
   * What a whole, complete read lacks was missed once more, and is absent once it was missed so often and so long as
   * `rule` says. Without a rule (a plan) nothing counts, nor while a row of the read has no readable id: it may be any
   * record that is missing. The read says which it was.
   */
  judge(
    source: string,
    stream: Stream,
    read: number,
    rule: AbsenceRule | undefined,
    at: number,
  ): { missed: number; absent: number } {
    const now = toInstant(at);
    const nameless = this.#statements.nameless.get(source, stream, read);
    const why = whyNot(nameless?.count ?? 0, nameless?.codes ?? "", rule);
    this.#statements.say.run(why ?? "judged", read);
    if (rule === undefined || why !== undefined) return { missed: 0, absent: 0 };
    const missed = this.#statements.miss.run(now, now, source, stream, read).changes;
    const since = toInstant(at - rule.ms);
    return { missed, absent: this.#statements.makeAbsent.run(now, source, stream, read, rule.reads, since).changes };
  }
}

function whyNot(nameless: number, codes: string, rule: AbsenceRule | undefined): string | undefined {
  if (nameless > 0) {
    const rows = nameless === 1 ? "1 row" : `${nameless} rows`;
    return `${rows} (${codes}) may be any record that is missing: \`crm-sync quarantine list\``;
  }
  return rule === undefined ? "a plan does not judge what is gone" : undefined;
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    nameless: () =>
      database.prepare<[string, string, number], { count: number; codes: string | null }>(
        `select count(*) as count, group_concat(distinct code) as codes from quarantine
       where source = +? and stream = +? and last_read = +? and record_id is null and state <> 'resolved'`,
      ),
    say: () => database.prepare("update source_read set absence = ? where number = +?"),
    miss: () =>
      database.prepare(
        `update record set missed = missed + 1, missed_since = iif(missed > 0, coalesce(missed_since, ?), ?)
       where source = +? and stream = +? and last_read < ? and state <> 'absent'`,
      ),
    makeAbsent: () =>
      database.prepare(
        `update record set state = 'absent', pending = 1, deferred_code = null, deferred_reason = null,
         deferred_since = null, changed_at = ?
       where source = +? and stream = +? and last_read < ? and missed >= ? and missed_since <= ? and state <> 'absent'`,
      ),
  });
}
