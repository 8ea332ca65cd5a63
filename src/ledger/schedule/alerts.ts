import { type Json, parseJson } from "../../base/canonical-json.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import type { AlertTable, AlertToldTable, DeliveryTable } from "./tables.ts";

export interface ToldAlert {
  channel: string;
  key: string;
  since: string;
  body: Json;
  toldAt: string;
}

/** Current states, and the last alert of each channel. Writes run inside the writer's transaction. */
export class AlertTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      all: sql<[], AlertTable>`select key, since, body, sent_at from alert order by key`,
      set: sql`insert into alert (key, since, body) values (?, ?, ?)
        on conflict (key) do update set body = excluded.body where body <> excluded.body`,
      sent: sql`update alert set sent_at = ? where key = +?`,
      dropOthers: sql`delete from alert where key not in (select value from json_each(?))`,
      told: sql<[], AlertToldTable>`select * from alert_told order by channel, key`,
      tell: sql`insert into alert_told (channel, key, since, body, told_at) values (@channel, @key, @since, @body, @at)
        on conflict (channel, key) do update set since = @since, body = @body, told_at = @at`,
      lower: sql`update alert_told set body = ? where channel = +? and key = +?`,
      forget: sql`delete from alert_told where channel = +? and key = +?`,
      forgetOthers: sql`delete from alert_told where channel not in (select value from json_each(?))`,
    });
  }

  all(): Map<string, { since: string; body: Json; sent: boolean }> {
    return new Map(
      this.#statements.all
        .all()
        .map((row) => [row.key, { since: row.since, body: parseJson(row.body), sent: row.sent_at !== null }]),
    );
  }

  /** Replaces the current states. A state that continues keeps its `since`. */
  stand(states: readonly { key: string; body: Json }[], at: string): void {
    for (const { key, body } of states) this.#statements.set.run(key, at, JSON.stringify(body));
    this.#statements.dropOthers.run(JSON.stringify(states.map(({ key }) => key)));
  }

  told(): ToldAlert[] {
    return this.#statements.told.all().map(({ channel, key, since, body, told_at: toldAt }) => ({
      channel,
      key,
      since,
      body: parseJson(body),
      toldAt,
    }));
  }

  tell(channel: string, states: readonly { key: string; since: string; body: Json }[], at: string): void {
    for (const { key, since, body } of states) {
      this.#statements.tell.run({ channel, key, since, body: JSON.stringify(body), at });
      this.#statements.sent.run(at, key);
    }
  }

  lower(channel: string, states: readonly { key: string; body: Json }[]): void {
    for (const { key, body } of states) this.#statements.lower.run(JSON.stringify(body), channel, key);
  }

  forget(channel: string, keys: readonly string[]): void {
    for (const key of keys) this.#statements.forget.run(channel, key);
  }

  only(channels: readonly string[]): void {
    this.#statements.forgetOthers.run(JSON.stringify(channels));
  }
}

export type DeliveryKind = DeliveryTable["kind"];

export interface Delivery {
  kind: DeliveryKind;
  name: string;
  doneAt: string | null;
  problem: string | null;
  failingSince: string | null;
}

/** Writes run inside the writer's transaction. */
export class DeliveryTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      all: sql<[], DeliveryTable>`select * from delivery order by kind, name`,
      done: sql`insert into delivery (kind, name, done_at) values (@kind, @name, @at)
        on conflict (kind, name) do update set done_at = @at, problem = null, failing_since = null`,
      failed: sql`insert into delivery (kind, name, problem, failing_since) values (@kind, @name, @problem, @at)
        on conflict (kind, name) do update set problem = @problem, failing_since = coalesce(failing_since, @at)`,
      clear: sql`update delivery set problem = null, failing_since = null where kind = +? and name = +?`,
      forgetOthers: sql`delete from delivery where kind = +? and name not in (select value from json_each(?))`,
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
