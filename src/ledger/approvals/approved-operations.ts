import type { RecordKey } from "../../crm/model.ts";
import type { OperationKind } from "../../operation/registry.ts";
import type { RecordReference } from "../../operation/shape.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { stored } from "../database/stored.ts";
import { rebuiltKind } from "../state/observations.ts";
import type { HoldOperationTable } from "./tables.ts";

/** An operation that a hold holds back, and why. */
export interface HeldOperation extends Pick<HoldOperationTable, "hash" | "kind" | "scope" | "reason"> {
  records: readonly RecordReference[];
}

type Named = Pick<HoldOperationTable, "kind" | "hash">;

/** An operation of a hold that is still meant, and whether a person approved it. */
export interface HeldNow extends Pick<HoldOperationTable, "hash" | "kind" | "scope" | "reason"> {
  approved: boolean;
}

/** An operation on which a hold, an approval or a rejection stands. */
export interface WordOn extends Named {
  hold: string;
  /** The records that it is about. */
  records: readonly RecordReference[];
  /** One of its records changed, or went, since it was held. */
  changed: boolean;
  /** It takes a run back, and waits for a person or for `apply`: no run means it. */
  ofUndo: boolean;
}

type WordRow = Named & { hold: string; records: string; changed: number; ofUndo: number };

/** Whether a person approved an operation of this kind and hash, and it was not carried out since. */
export const isApproved = (kind: string, hash: string): string =>
  `exists (select 1 from approved_operation a join hold h on h.id = a.hold_id
    where a.kind = +${kind} and a.hash = +${hash} and a.used_at is null and h.state in ('open', 'approved'))`;

const again = `on conflict (kind, hash) do update set hold_id = excluded.hold_id, at = excluded.at, by = excluded.by,
  used_at = null`;

/** Operations `i` of holds `h` of a customer on which nothing ended the word. */
const standing = "h.customer_namespace = +? and h.customer_id = +? and i.ended_at is null";

/** What each hold holds back, and what of it a person approved. Writes run inside the writer's transaction. */
export class ApprovedOperations {
  readonly #statements;

  /** In one piece: a table of statements. */
  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
      keep: () =>
        database.prepare(
          `insert into hold_operation (hold_id, hash, kind, scope, reason, records) values (?, ?, ?, ?, ?, ?)`,
        ),
      of: () =>
        database.prepare<[string], Omit<HeldNow, "approved"> & { approved: number }>(
          `select i.hash, i.kind, i.scope, i.reason, exists (select 1 from approved_operation a
             where a.kind = i.kind and a.hash = i.hash and a.hold_id = i.hold_id and a.used_at is null) as approved
           from hold_operation i where i.hold_id = +? and i.ended_at is null order by i.hash`,
        ),
      approve: () =>
        database.prepare(
          `insert into approved_operation (kind, hash, hold_id, at, by) values (?, ?, ?, ?, ?) ${again}`,
        ),
      keepApproved: () =>
        database.prepare(
          `insert into hold_operation (hold_id, hash, kind, scope, reason, records)
           select @to, i.hash, i.kind, i.scope, i.reason, i.records from hold_operation i
           join approved_operation a on a.kind = i.kind and a.hash = i.hash and a.hold_id = i.hold_id
           where i.hold_id = +@from and i.ended_at is null and a.used_at is null
             and (@which is null or i.hash in (select value from json_each(@which))) on conflict do nothing`,
        ),
      carryOver: () =>
        database.prepare(
          `update approved_operation set hold_id = @to
           where (kind, hash) in (select kind, hash from hold_operation where hold_id = +@from and ended_at is null)
             and hold_id = +@from and used_at is null
             and (@which is null or hash in (select value from json_each(@which)))`,
        ),
      wordsOf: () =>
        database.prepare<[string, string], WordRow>(
          `select i.hold_id as hold, i.kind, i.hash, i.records, exists (
             select 1 from json_each(i.records) one join record r on r.stream = one.value ->> 'stream'
               and r.namespace = one.value ->> 'namespace' and r.id = one.value ->> 'id'
             where r.changed_at > h.created_at) as changed,
             h.of_undo = 1 and h.state <> 'rejected' as ofUndo
           from hold h join hold_operation i on i.hold_id = h.id
           where ${standing} and h.state in ('open', 'approved', 'rejected') order by i.hold_id, i.hash`,
        ),
      rejectedOf: () =>
        database.prepare<[string, string], Named>(
          `select i.kind, i.hash from hold h join hold_operation i on i.hold_id = h.id
           where ${standing} and h.state = 'rejected'`,
        ),
      isRejected: () =>
        database.prepare<[string, string, string, string], { found: number }>(
          `select 1 as found from hold h join hold_operation i on i.hold_id = h.id
           where ${standing} and h.state = 'rejected' and i.kind = +? and i.hash = +? limit 1`,
        ),
      isApproved: () =>
        database.prepare<[Named], { approved: number }>(`select ${isApproved("@kind", "@hash")} as approved`),
      use: () =>
        database.prepare("update approved_operation set used_at = ? where kind = +? and hash = +? and used_at is null"),
      carriedOut: () =>
        database.prepare(
          `update hold_operation set ended_at = ? where kind = +? and hash = +? and ended_at is null
             and hold_id = (select hold_id from approved_operation where kind = +? and hash = +?)`,
        ),
      end: () =>
        database.prepare(
          `update hold_operation set ended_at = ? where hold_id = +? and hash = +? and ended_at is null`,
        ),
      endApproval: () =>
        database.prepare(
          `update approved_operation set used_at = ?
           where kind = +? and hash = +? and hold_id = +? and used_at is null`,
        ),
      takeBack: () =>
        database.prepare(
          `delete from approved_operation
           where (kind, hash) in (select kind, hash from hold_operation where hold_id = +@hold)
             and hold_id = +@hold and used_at is null`,
        ),
      calm: () =>
        database.prepare("update record set flips = 0 where stream = +? and namespace = +? and id = +? and flips > 0"),
      seen: () =>
        database.prepare(
          `update observation set to_at = ? where customer_namespace = +? and customer_id = +?
            and kind = '${rebuiltKind}' and to_at is null`,
        ),
      earned: () =>
        database.prepare<[], { kind: OperationKind; count: number }>(
          "select kind, count(*) as count from approved_operation group by kind",
        ),
    });
  }

  keep(hold: string, operations: readonly HeldOperation[]): void {
    for (const { hash, kind, scope, reason, records } of operations)
      this.#statements.keep.run(hold, hash, kind, scope, reason, JSON.stringify(records));
  }

  /** What a hold holds back that is still meant. */
  of(hold: string): HeldNow[] {
    return this.#statements.of.all(hold).map((row) => ({ ...row, approved: row.approved === 1 }));
  }

  approve(hold: string, { kind, hash }: Named, by: string, at: string): void {
    this.#statements.approve.run(kind, hash, hold, at, by);
  }

  /**
   * What was approved under one hold, and not carried out since, belongs to the one that takes its place: these, or all
   * of it.
   */
  carryOver(from: string, to: string, hashes: ReadonlySet<string> | "all"): void {
    const which = hashes === "all" ? null : JSON.stringify([...hashes]);
    this.#statements.keepApproved.run({ from, to, which });
    this.#statements.carryOver.run({ from, to, which });
  }

  /** What is held, approved or rejected of a customer, as far as nothing ended it. */
  wordsOf({ namespace, id }: RecordKey): WordOn[] {
    return this.#statements.wordsOf.all(namespace, id).map(({ records, changed, ofUndo, ...row }) => ({
      ...row,
      ofUndo: ofUndo === 1,
      records: stored<RecordReference[]>(records),
      changed: changed === 1,
    }));
  }

  /** Nobody means it any more: where it comes up again, a person is asked again. */
  end({ hold, kind, hash }: Pick<WordOn, "hold" | "kind" | "hash">, at: string): void {
    this.#statements.end.run(at, hold, hash);
    this.#statements.endApproval.run(at, kind, hash, hold);
  }

  /** What of a customer a person rejected. */
  rejectedOf({ namespace, id }: RecordKey): Set<string> {
    return new Set(this.#statements.rejectedOf.all(namespace, id).map(({ hash }) => hash));
  }

  /** Whether a person rejected exactly this of a customer. */
  isRejected({ namespace, id }: RecordKey, { kind, hash }: Named): boolean {
    return this.#statements.isRejected.get(namespace, id, kind, hash) !== undefined;
  }

  isApproved({ kind, hash }: Named): boolean {
    return this.#statements.isApproved.get({ kind, hash })?.approved === 1;
  }

  /** It was carried out: where it comes up again, a person is asked again. */
  use({ kind, hash }: Named, at: string): void {
    this.#statements.carriedOut.run(at, kind, hash, kind, hash);
    this.#statements.use.run(at, kind, hash);
  }

  /** What was approved under a hold and not carried out was not approved. */
  takeBack(hold: string): void {
    this.#statements.takeBack.run({ hold });
  }

  /** How often these records turned to and fro is counted anew: a person has seen it. */
  calm(records: readonly RecordReference[]): void {
    for (const { stream, namespace, id } of records) this.#statements.calm.run(stream, namespace, id);
  }

  /** A person has seen what a rebuild left of a customer to be made: what comes later is not asked about. */
  seenAfterRebuild({ namespace, id }: RecordKey, at: string): void {
    this.#statements.seen.run(at, namespace, id);
  }

  /** How many different operations of each kind were ever approved. */
  earned(): Map<OperationKind, number> {
    return new Map(this.#statements.earned.all().map(({ kind, count }) => [kind, count]));
  }
}
