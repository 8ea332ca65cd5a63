import type { Stream } from "../../crm/model.ts";
import { streams } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import { statements } from "../database/statements.ts";

/** In the place of a source, which no configuration can have: a person let go of these records. */
const nobody = "(nobody)";

/** Streams of records that no configured source gives, as common table expressions; a step for each source. */
export const removedStreams = `
  each_source(source) as (
    select min(source) from record
    union all select (select min(source) from record where source > each_source.source) from each_source
      where each_source.source is not null),
  removed(source, stream) as (
    select e.source, s.value from each_source e, json_each('${JSON.stringify(streams)}') s
    where e.source is not null and e.source <> '${nobody}' and exists (select 1 from source_stream)
      and not exists (select 1 from source_stream c where c.source = e.source and c.stream = s.value))`;

/** Records that are not gone, of a stream that no configured source gives. */
export interface Unread {
  source: string;
  stream: Stream;
  count: number;
}

/** What sources left behind that are configured no longer: nobody reads these records, and nobody misses them. */
export class RemovedSources {
  readonly #context: LedgerContext;
  readonly #statements;

  constructor(context: LedgerContext) {
    this.#context = context;
    const { database } = context;
    this.#statements = statements.onUse({
      unread: () =>
        database.prepare<[], Unread>(
          `with recursive ${removedStreams}
           select r.source, r.stream, count(*) as count from removed
           join record r indexed by record_by_hash on r.source = removed.source and r.stream = removed.stream
           where r.state <> 'absent' group by r.source, r.stream`,
        ),
      reassign: () =>
        database.prepare(
          `update record indexed by record_by_hash set source = ?, missed = 0, missed_since = null
           where source = +? and stream = +?`,
        ),
    });
  }

  async unread(): Promise<Unread[]> {
    return this.#context.read(() => this.#statements.unread.all());
  }

  /**
   * From now on these records are of another source: what its next whole reads lack of them is missing. Without `to`
   * nobody reads them, and a person decided so: they stay as they are until a source gives them.
   */
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
