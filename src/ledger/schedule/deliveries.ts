import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { DeliveryTable } from "./tables.ts";

export type DeliveryKind = DeliveryTable["kind"];

/** How a channel, or a dead man's switch, is doing. */
export interface Delivery {
  kind: DeliveryKind;
  name: string;
  /** When it did last what it is for. */
  doneAt: string | null;
  /** Why it does not, and since when. */
  problem: string | null;
  failingSince: string | null;
}

/** How channels and switches are doing. Writes run inside the writer's transaction. */
export class DeliveryTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
      all: () => database.prepare<[], DeliveryTable>("select * from delivery order by kind, name"),
      done: () =>
        database.prepare(
          `insert into delivery (kind, name, done_at) values (@kind, @name, @at)
         on conflict (kind, name) do update set done_at = @at, problem = null, failing_since = null`,
        ),
      failed: () =>
        database.prepare(
          `insert into delivery (kind, name, problem, failing_since) values (@kind, @name, @problem, @at)
         on conflict (kind, name) do update set problem = @problem, failing_since = coalesce(failing_since, @at)`,
        ),
      clear: () =>
        database.prepare("update delivery set problem = null, failing_since = null where kind = +? and name = +?"),
      forgetOthers: () =>
        database.prepare("delete from delivery where kind = +? and name not in (select value from json_each(?))"),
    });
  }

  all(): Delivery[] {
    return this.#statements.all.all().map(({ kind, name, done_at: doneAt, problem, failing_since: failingSince }) => ({
      kind,
      name,
      doneAt,
      problem,
      failingSince,
    }));
  }

  done(kind: DeliveryKind, name: string, at: string): void {
    this.#statements.done.run({ kind, name, at });
  }

  failed(kind: DeliveryKind, name: string, problem: string, at: string): void {
    this.#statements.failed.run({ kind, name, problem, at });
  }

  clear(kind: DeliveryKind, name: string): void {
    this.#statements.clear.run(kind, name);
  }

  only(kind: DeliveryKind, names: readonly string[]): void {
    this.#statements.forgetOthers.run(kind, JSON.stringify(names));
  }
}
