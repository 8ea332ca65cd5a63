import Database from "better-sqlite3";
import { schema } from "../../../migrations/0001_ledger.ts";
import type { Sqlite } from "./database.ts";

/** Everything in the schema of a database by its name: how it was made. */
type Made = ReadonlyMap<string, string>;

let expected: Made | undefined;

/** A guard is a trigger that refuses a change. */
const guard = /\braise\(\s*abort\b/u;

/**
 * What of the schema of a ledger is not as the migration makes it, by name: guards that are gone or others, and
 * everything else that is gone, another, or there beside it. SQLite keeps the statements word for word.
 */
export function schemaDifferences(database: Sqlite): { guardsMissing: string[]; schemaChanged: string[] } {
  expected ??= madeAnew();
  const found = madeIn(database);
  const differing = [...expected].filter(([name, made]) => found.get(name) !== made);
  const [guards, others] = [
    differing.filter(([, made]) => guard.test(made)),
    differing.filter(([, made]) => !guard.test(made)),
  ];
  const beside = [...found.keys()].filter((name) => expected?.has(name) !== true);
  return { guardsMissing: guards.map(([name]) => name), schemaChanged: [...others.map(([name]) => name), ...beside] };
}

function madeAnew(): Made {
  const fresh = new Database(":memory:");
  try {
    fresh.exec(schema);
    return madeIn(fresh);
  } finally {
    fresh.close();
  }
}

/** What SQLite keeps for itself, such as its statistics, is left out. */
function madeIn(database: Sqlite): Made {
  const all = database.prepare<[], { name: string; sql: string }>(
    "select name, sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\' order by name",
  );
  return new Map(all.all().map(({ name, sql }) => [name, sql]));
}
