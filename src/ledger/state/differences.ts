import type { RecordKey } from "../../crm/model.ts";
import {
  shownStill,
  shownTwice,
  type Difference,
  type DriftClass,
  subjectOf,
} from "../../report/reconciliation/case.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql, table } from "../database/statements.ts";

/** A difference between platform and ledger. It ends when a complete reading no longer shows it. */
interface DifferenceTable {
  namespace: string;
  customer_id: string;
  level: string;
  subject: string;
  class: DriftClass;
  first_seen: string;
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

export type SeenDifference = Pick<DifferenceTable, "level" | "subject" | "class"> & { firstSeen: string };

/** SQL: sent by us and not as it was left. Other extra things come from others. */
export const notAsLeft = `(class in ('missing', 'different') or subject like '${shownTwice}%' or subject like '${shownStill}%')`;

export class DifferenceRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** Ends differences that are no longer found. Restarts one that a later call should have ended. */
  keep({ namespace, id }: RecordKey, found: readonly Difference[], seenAt: string): void {
    const run = this.#statements;
    const names = new Set<string>();
    for (const { level, subject, class: named, detail, at } of found) {
      names.add(JSON.stringify([level, subject, named]));
      if (run.again.run(detail, namespace, id, level, subject, named, at ?? "").changes > 0) continue;
      run.end.run(seenAt, namespace, id, level, subject, named);
      run.begin.run(namespace, id, level, subject, named, seenAt, detail);
    }
    for (const { level, subject, class: named } of run.seen.all(namespace, id))
      if (!names.has(JSON.stringify([level, subject, named])))
        run.end.run(seenAt, namespace, id, level, subject, named);
  }

  of({ namespace, id }: RecordKey): SeenDifference[] {
    return this.#statements.seen.all(namespace, id);
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

  counts(): DifferenceCount[] {
    return this.#statements.counts
      .all(`${shownTwice}%`, `${shownStill}%`)
      .map((row) => ({ ...row, twice: row.twice === 1, still: row.still === 1 }));
  }

  /** The first missing, different, or twice or still shown ones, by customer. */
  first(limit: number): StandingDifference[] {
    return this.#statements.first.all(limit);
  }
}

function prepareStatements(database: Sqlite) {
  const one = "namespace = +? and customer_id = +? and level = +? and subject = +? and class = +?";
  return prepared(database, {
    again: sql`update difference set detail = ? where ${one} and ended_at is null and first_seen >= ?`,
    begin: sql`insert into difference (namespace, customer_id, level, subject, class, first_seen, detail)
      values (?, ?, ?, ?, ?, ?, ?)
      on conflict do update set ended_at = null, detail = excluded.detail`,
    seen: sql<[string, string], SeenDifference>`
      select level, subject, class, first_seen as firstSeen from difference
        where namespace = +? and customer_id = +? and ended_at is null`,
    end: sql`update difference set ended_at = ? where ${one} and ended_at is null`,
    endShown: sql`update difference set ended_at = @at where namespace = +@namespace and customer_id = +@id
      and ended_at is null
      and class = 'extra' and substr(subject, 1, length(@still)) = @still
      and (subject = @subject or (@whole = 1 and substr(subject, -length(@ofNumber)) = @ofNumber))`,
    counts: sql<[string, string], Omit<DifferenceCount, "twice" | "still"> & { twice: number; still: number }>`
      select class, subject like ? as twice, subject like ? as still, count(*) as count, min(first_seen) as since
        from difference where ended_at is null group by 1, 2, 3 order by 1, 2, 3`,
    first: sql<[number], StandingDifference>`
      select namespace, customer_id as id, level, subject, detail from difference
        where ended_at is null and ${notAsLeft}
        order by namespace, customer_id, level, subject limit ?`,
  });
}
