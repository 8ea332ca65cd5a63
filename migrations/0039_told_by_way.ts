import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * What each way told of each state last, and how each way and each dead man's switch is doing. What was told before is
 * kept without the name of a way: it was told by the only way that there was.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table alert_told (way text not null, key text not null, since text not null, body text not null,
    told_at text not null, primary key (way, key)) strict, without rowid`.execute(db);
  await sql`insert into alert_told (way, key, since, body, told_at)
    select '', key, since, body, sent_at from alert where sent_at is not null`.execute(db);
  await sql`create table delivery (kind text not null check (kind in ('way', 'switch')), name text not null,
    done_at text, problem text, failing_since text, primary key (kind, name)) strict, without rowid`.execute(db);
}
