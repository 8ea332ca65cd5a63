import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import type { Row } from "../tables.ts";

/** When stored times in the future were first noticed. Writes run inside the writer's transaction. */
export class ClockNoteTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      find: sql<[string], Row<"clock_note", "future" | "met_at">>`
        select future, met_at from clock_note where subject = +?`,
      keep: sql`insert into clock_note (subject, future, met_at) values (?, ?, ?)
        on conflict (subject) do update set future = excluded.future, met_at = excluded.met_at`,
    });
  }

  of(subject: string): { future: number; metAt: number } | undefined {
    const row = this.#statements.find.get(subject);
    return row === undefined ? undefined : { future: row.future, metAt: row.met_at };
  }

  keep(subject: string, future: number, metAt: number): void {
    this.#statements.keep.run(subject, future, metAt);
  }
}
