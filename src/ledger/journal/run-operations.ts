import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import { journalRow, operationColumns, type JournalRow, type OperationRow } from "./journal-row.ts";
import { Problem } from "../../base/errors.ts";
import type { OperationState } from "./tables.ts";
import { isOperationName, removedBy } from "../../engine/model/registry.ts";
import { noThings, type RemovedThing } from "../../engine/model/operation.ts";

export class RunOperations {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      held: sql<[], { id: string }>`select id from operation indexed by operation_held where state = 'held'`,
      doneOf: sql<[string], OperationRow>`select ${operationColumns} from operation o indexed by operation_by_run
        where o.run_id = +? and o.state = 'done' order by o.updated_at desc, o.id desc`,
      newestWithDone: sql<[], { id: string }>`
        select r.id from run r where exists (select 1 from operation o indexed by operation_by_run
            where o.run_id = r.id and o.state = 'done' and o.customer_id <> '')
          order by r.id desc limit 1`,
    });
  }

  newestWithDone(): string | undefined {
    return this.#statements.newestWithDone.get()?.id;
  }

  /** Operations that wait for a person, alone or with another one. The next run carries them in. */
  held(): string[] {
    return this.#statements.held.all().map(({ id }) => id);
  }

  doneOf(run: string): JournalRow[] {
    return this.#statements.doneOf.all(run).map(journalRow);
  }
}

export interface AppliedBy {
  run: string;
  state: OperationState;
}

/** Writes run inside the writer's transaction. */
export class AppliedPlans {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      apply: sql`insert into applied_plan (plan, hash, run_id, at) values (?, ?, ?, ?)
        on conflict (plan, hash) do update set at = excluded.at where run_id = excluded.run_id`,
      of: sql<[string], { hash: string; run: string; state: OperationState | null }>`
        select a.hash, a.run_id as run, (select o.state from operation o
            where o.run_id = a.run_id and o.hash = a.hash order by o.created_at desc, o.id desc limit 1) as state
          from applied_plan a where a.plan = +?`,
    });
  }

  /** Throws a Problem if another run has applied this operation of the plan. */
  apply(plan: string, hash: string, run: string, at: string): void {
    if (this.#statements.apply.run(plan, hash, run, at).changes === 1) return;
    throw new Problem({
      code: "plan.applied-already",
      message: `another run has applied the operation ${hash.slice(0, 8)} of this plan, so it was not sent again`,
      cure: "make a new plan with `crm-sync plan --out FILE`",
    });
  }

  of(plan: string): Map<string, AppliedBy> {
    return new Map(
      this.#statements.of.all(plan).map(({ hash, run, state }) => [hash, { run, state: state ?? "done" }]),
    );
  }
}

/** Counts removed resources. Seats of a deleted asset count too. */
export function takenOf(rows: readonly { kind: string; count: number; seats: number }[]): Record<RemovedThing, number> {
  const taken = noThings();
  for (const { kind, count, seats } of rows) {
    const thing = isOperationName(kind) ? removedBy({ kind }) : undefined;
    if (thing !== undefined) taken[thing] += count;
    if (thing !== "seats") taken.seats += seats;
  }
  return taken;
}
