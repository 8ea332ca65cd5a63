import type { RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import {
  shownStill,
  shownTwice,
  type Difference,
  type DriftClass,
  subjectOf,
} from "../../report/reconciliation/case.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql, table } from "../database/statements.ts";
import { stored } from "../database/damage.ts";

/** A difference between platform and ledger. It ends when a complete reading no longer shows it. */
interface DifferenceTable {
  namespace: string;
  customer_id: string;
  level: string;
  subject: string;
  class: DriftClass;
  first_seen: string;
  last_seen: string;
  detail: string;
  ended_at: string | null;
}

export const differenceTables = { difference: table<DifferenceTable>() };

export interface DifferenceCount {
  class: DriftClass;
  twice: boolean;
  /** Shown although it was removed. */
  still: boolean;
  count: number;
  since: string;
}

export type StandingDifference = RecordKey & Pick<DifferenceTable, "level" | "subject" | "detail">;

/** When complete readings first and last showed a difference, and when it ended earlier. */
export type SeenDifference = Pick<DifferenceTable, "level" | "subject" | "class"> & {
  firstSeen: string;
  lastSeen: string;
  endedBefore: string[];
};

type LiveRow = Pick<DifferenceTable, "level" | "subject" | "class">;

/** Drift by customer. Writes run inside the writer's transaction. */
export class DifferenceRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** Differences that are missing now end. One that a later call must have ended starts again. */
  keep({ namespace, id }: RecordKey, found: readonly Difference[], seenAt: string): void {
    const run = this.#statements;
    const names = new Set<string>();
    for (const { level, subject, class: named, detail, at } of found) {
      names.add(JSON.stringify([level, subject, named]));
      if (run.again.run(seenAt, detail, namespace, id, level, subject, named, at ?? "").changes > 0) continue;
      run.end.run(seenAt, namespace, id, level, subject, named);
      run.begin.run(namespace, id, level, subject, named, seenAt, seenAt, detail);
    }
    for (const { level, subject, class: named } of run.live.all(namespace, id))
      if (!names.has(JSON.stringify([level, subject, named])))
        run.end.run(seenAt, namespace, id, level, subject, named);
  }

  of({ namespace, id }: RecordKey): SeenDifference[] {
    return this.#statements.seen
      .all(namespace, id)
      .map(({ endedBefore, ...row }) => ({ ...row, endedBefore: stored<string[]>(endedBefore) }));
  }

  /** Ends the difference of a person who was set again. A reading may show it again. */
  setAgain({ namespace, id }: RecordKey, staff: RecordKey, at: string): void {
    this.#statements.end.run(at, namespace, id, "staff", subjectOf({ staff }), "different");
  }

  /** Ends "still shown" after a removal; without `product` for the whole number. "Shown twice" stays: one is left. */
  removed(
    { namespace, id }: RecordKey,
    { number, product }: { number: string; product: string | null },
    at: string,
  ): void {
    const ofNumber = subjectOf({ assetNumber: number });
    const subject = `${shownStill}${subjectOf({ item: product ?? undefined, assetNumber: number })}`;
    this.#statements.endShown.run({
      at,
      namespace,
      id,
      subject,
      still: shownStill,
      ofNumber,
      whole: product === null ? 1 : 0,
    });
  }

  /** When the last approved change of each person was carried out, by key. */
  editsApproved({ namespace, id }: RecordKey): Map<string, string> {
    const rows = this.#statements.editsApproved.all(namespace, id);
    return new Map(rows.map((row) => [formatKey({ namespace: row.namespace, id: row.id }), row.at]));
  }

  /** Customers with differences of these classes that lasted at least `ms`, in key order after `after`. */
  lasting(classes: readonly DriftClass[], ms: number, after: RecordKey, limit: number): RecordKey[] {
    return this.#statements.lasting.all({ classes: JSON.stringify(classes), ms, ...after, limit });
  }

  counts(): DifferenceCount[] {
    return this.#statements.counts
      .all(`${shownTwice}%`, `${shownStill}%`)
      .map((row) => ({ ...row, twice: row.twice === 1, still: row.still === 1 }));
  }

  /** The first missing, different, or twice or still shown ones, by customer. */
  first(limit: number): StandingDifference[] {
    return this.#statements.first.all(`${shownTwice}%`, `${shownStill}%`, limit);
  }
}

function prepareStatements(database: Sqlite) {
  const one = "namespace = +? and customer_id = +? and level = +? and subject = +? and class = +?";
  return prepared(database, {
    again: sql`update difference set last_seen = ?, detail = ? where ${one} and ended_at is null and first_seen >= ?`,
    begin: sql`insert into difference (namespace, customer_id, level, subject, class, first_seen, last_seen, detail)
      values (?, ?, ?, ?, ?, ?, ?, ?)
      on conflict do update set ended_at = null, last_seen = excluded.last_seen, detail = excluded.detail`,
    live: sql<[string, string], LiveRow>`select level, subject, class from difference
      where namespace = +? and customer_id = +? and ended_at is null`,
    seen: sql<[string, string], Omit<SeenDifference, "endedBefore"> & { endedBefore: string }>`
      select level, subject, class, first_seen as firstSeen, last_seen as lastSeen,
          (select json_group_array(e.ended_at) from difference e
           where e.namespace = d.namespace and e.customer_id = d.customer_id and e.level = d.level
             and e.subject = d.subject and e.class = d.class and e.ended_at is not null) as endedBefore
        from difference d where namespace = +? and customer_id = +? and ended_at is null`,
    editsApproved: sql<[string, string], RecordKey & { at: string }>`
      select one.value ->> 'namespace' as namespace, one.value ->> 'id' as id, max(h.ended_at) as at
        from hold h, json_each(h.records) one
        where h.customer_namespace = +? and h.customer_id = +? and h.state = 'used'
          and one.value ->> 'stream' = 'staff'
        group by 1, 2`,
    lasting: sql<[RecordKey & { classes: string; ms: number; limit: number }], RecordKey>`
      select distinct namespace, customer_id as id from difference indexed by difference_live
        where ended_at is null and (namespace, customer_id) > (@namespace, @id)
          and class in (select value from json_each(@classes)) and level in ('product', 'staff', 'assignment')
          and (class <> 'different' or level = 'staff')
          and last_seen > first_seen and (julianday(last_seen) - julianday(first_seen)) * 86400000 + 0.5 >= @ms
        order by namespace, customer_id limit @limit`,
    end: sql`update difference set ended_at = ? where ${one} and ended_at is null`,
    endShown: sql`update difference set ended_at = @at where namespace = +@namespace and customer_id = +@id
      and ended_at is null
      and class = 'extra' and substr(subject, 1, length(@still)) = @still
      and (subject = @subject or (@whole = 1 and substr(subject, -length(@ofNumber)) = @ofNumber))`,
    counts: sql<[string, string], Omit<DifferenceCount, "twice" | "still"> & { twice: number; still: number }>`
      select class, subject like ? as twice, subject like ? as still, count(*) as count, min(first_seen) as since
        from difference where ended_at is null group by 1, 2, 3 order by 1, 2, 3`,
    first: sql<[string, string, number], StandingDifference>`
      select namespace, customer_id as id, level, subject, detail from difference
        where ended_at is null and (class in ('missing', 'different') or subject like ? or subject like ?)
        order by namespace, customer_id, level, subject limit ?`,
  });
}
