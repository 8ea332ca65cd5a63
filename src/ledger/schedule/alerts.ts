import type { Json } from "../../base/canonical-json.ts";
import { parseJson } from "../../base/canonical-json.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { AlertTable, AlertToldTable } from "./tables.ts";

/** What a way told of a state. */
export interface ToldAlert {
  way: string;
  key: string;
  since: string;
  body: Json;
  toldAt: string;
}

/** The states that stand, and what each way told of them last. Writes run inside the writer's transaction. */
export class AlertTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
      all: () => database.prepare<[], AlertTable>("select key, since, body, sent_at from alert order by key"),
      set: () =>
        database.prepare(
          `insert into alert (key, since, body) values (?, ?, ?)
         on conflict (key) do update set body = excluded.body where body <> excluded.body`,
        ),
      sent: () => database.prepare("update alert set sent_at = ? where key = +?"),
      dropOthers: () => database.prepare("delete from alert where key not in (select value from json_each(?))"),
      told: () => database.prepare<[], AlertToldTable>("select * from alert_told order by way, key"),
      tell: () =>
        database.prepare(
          `insert into alert_told (way, key, since, body, told_at) values (@way, @key, @since, @body, @at)
         on conflict (way, key) do update set since = @since, body = @body, told_at = @at`,
        ),
      lower: () => database.prepare("update alert_told set body = ? where way = +? and key = +?"),
      forget: () => database.prepare("delete from alert_told where way = +? and key = +?"),
      forgetOthers: () => database.prepare("delete from alert_told where way not in (select value from json_each(?))"),
    });
  }

  all(): Map<string, { since: string; body: Json; sent: boolean }> {
    return new Map(
      this.#statements.all
        .all()
        .map((row) => [row.key, { since: row.since, body: parseJson(row.body), sent: row.sent_at !== null }]),
    );
  }

  /** These states stand from now on, those that stood before since then, and no others. */
  stand(states: readonly { key: string; body: Json }[], at: string): void {
    for (const { key, body } of states) this.#statements.set.run(key, at, JSON.stringify(body));
    this.#statements.dropOthers.run(JSON.stringify(states.map(({ key }) => key)));
  }

  told(): ToldAlert[] {
    return this.#statements.told
      .all()
      .map(({ way, key, since, body, told_at: toldAt }) => ({ way, key, since, body: parseJson(body), toldAt }));
  }

  tell(way: string, states: readonly { key: string; since: string; body: Json }[], at: string): void {
    for (const { key, since, body } of states) {
      this.#statements.tell.run({ way, key, since, body: JSON.stringify(body), at });
      this.#statements.sent.run(at, key);
    }
  }

  lower(way: string, states: readonly { key: string; body: Json }[]): void {
    for (const { key, body } of states) this.#statements.lower.run(JSON.stringify(body), way, key);
  }

  forget(way: string, keys: readonly string[]): void {
    for (const key of keys) this.#statements.forget.run(way, key);
  }

  /** Forgets what other ways told. */
  only(ways: readonly string[]): void {
    this.#statements.forgetOthers.run(JSON.stringify(ways));
  }
}
