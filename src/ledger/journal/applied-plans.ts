import { Problem } from "../../base/errors.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { OperationState } from "./tables.ts";

/** The run that took an operation of a saved plan, and what became of it. */
export interface AppliedBy {
  run: string;
  state: OperationState;
}

/** Which operations of saved plans were applied, and by which run. Writes run inside the writer's transaction. */
export class AppliedPlans {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
      apply: () =>
        database.prepare(
          `insert into applied_plan (plan, hash, run_id, at) values (?, ?, ?, ?)
           on conflict (plan, hash) do update set at = excluded.at where run_id = excluded.run_id`,
        ),
      of: () =>
        database.prepare<[string], { hash: string; run: string; state: OperationState | null }>(
          `select a.hash, a.run_id as run, (select o.state from operation o
             where o.run_id = a.run_id and o.hash = a.hash order by o.created_at desc, o.id desc limit 1) as state
           from applied_plan a where a.plan = +?`,
        ),
    });
  }

  /** Takes an operation of a plan for this run. Throws a Problem where another run has taken it. */
  apply(plan: string, hash: string, run: string, at: string): void {
    if (this.#statements.apply.run(plan, hash, run, at).changes === 1) return;
    throw new Problem({
      code: "plan.applied-already",
      message: `another run has applied the operation ${hash.slice(0, 8)} of this plan, so it was not sent again`,
      cure: "make a new plan with `crm-sync plan --out FILE`",
    });
  }

  /** What of a plan was applied, by the hash of the operation. */
  of(plan: string): Map<string, AppliedBy> {
    return new Map(
      this.#statements.of.all(plan).map(({ hash, run, state }) => [hash, { run, state: state ?? "done" }]),
    );
  }
}
