import { type Stream, streams } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import { prepared, sql } from "../database/statements.ts";

/** Replaces the source of records that a person let go. No configuration can have this name. */
const nobody = "(nobody)";

/** SQL: streams with records but without a configured source. One index step for each source. */
export const removedStreams = `
  each_source(source) as (
    select min(source) from record
    union all select (select min(source) from record where source > each_source.source) from each_source
      where each_source.source is not null),
  removed(source, stream, since) as (
    select e.source, named.value, (select started_at from source_read
      where source_read.source = e.source and source_read.stream = named.value order by number desc limit 1)
    from each_source e, json_each('${JSON.stringify(streams)}') named
    where e.source is not null and e.source <> '${nobody}' and exists (select 1 from source_stream)
      and not exists (select 1 from source_stream c where c.source = e.source and c.stream = named.value))`;

export interface Unread {
  source: string;
  stream: Stream;
  count: number;
}

export class RemovedSources {
  readonly #context: LedgerContext;
  readonly #statements;

  constructor(context: LedgerContext) {
    this.#context = context;
    const { database } = context;
    this.#statements = prepared(database, {
      unread: sql<[], Unread>`with recursive ${removedStreams}, theirs as (
          select source, stream, (select count(*) from record indexed by record_by_hash
            where record.source = removed.source and record.stream = removed.stream and state <> 'absent') as count
          from removed)
        select * from theirs where count > 0`,
      reassign: sql`update record indexed by record_by_hash set source = ?, missed = 0, missed_since = null
        where source = +? and stream = +?`,
    });
  }

  async unread(): Promise<Unread[]> {
    return this.#context.read(() => this.#statements.unread.all());
  }

  /** The next full reads of `to` may miss the records. Without `to` they stay until a source sends them. */
  async reassign(
    unread: readonly Unread[],
    to: string | undefined,
    { by, reason }: { by: string; reason: string },
  ): Promise<void> {
    await this.#context.write(() => {
      for (const { source, stream, count } of unread) {
        this.#statements.reassign.run(to ?? nobody, source, stream);
        this.#context.audit.append({
          at: this.#context.now,
          kind: to === undefined ? "source-let-go" : "source-reassigned",
          subject: `source:${source}`,
          body: { stream, records: count, ...(to === undefined ? {} : { to }), by, reason },
        });
      }
    });
  }
}
