import type { Json } from "../../base/canonical-json.ts";
import { parseJson } from "../../base/canonical-json.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { AlertTable } from "./tables.ts";

/** The states that people were told of or are to be told of. Writes run inside the writer's transaction. */
export class AlertTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
      all: () => database.prepare<[], AlertTable>("select key, since, body, sent_at from alert order by key"),
      set: () =>
        database.prepare(
          `insert into alert (key, since, body) values (?, ?, ?)
         on conflict (key) do update set body = excluded.body`,
        ),
      sent: () => database.prepare("update alert set sent_at = ? where key = +?"),
      drop: () => database.prepare("delete from alert where key = +?"),
    });
  }

  all(): Map<string, { since: string; body: Json; sent: boolean }> {
    return new Map(
      this.#statements.all
        .all()
        .map((row) => [row.key, { since: row.since, body: parseJson(row.body), sent: row.sent_at !== null }]),
    );
  }

  set(key: string, body: Json, at: string): void {
    this.#statements.set.run(key, at, JSON.stringify(body));
  }

  sent(key: string, at: string): void {
    this.#statements.sent.run(at, key);
  }

  drop(key: string): void {
    this.#statements.drop.run(key);
  }
}
