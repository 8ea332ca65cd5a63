import Database from "better-sqlite3";
import { schema } from "../../../migrations/0001_ledger.ts";
import type { Sqlite } from "./database.ts";

interface Made {
  type: string;
  name: string;
  sql: string;
}

let expected: readonly Made[] | undefined;

/** A guard is a trigger that refuses a change. */
const guard = /\braise\(\s*abort\b/u;

/** Differences from the migration, by name. SQLite keeps the statements verbatim. */
export function schemaDifferences(database: Sqlite): { guardsMissing: string[]; schemaChanged: string[] } {
  expected ??= madeAnew();
  const found = madeIn(database);
  const differing = lacking(expected, found);
  const isGuard = ({ sql }: Made): boolean => guard.test(sql);
  return {
    guardsMissing: namesOf(differing.filter(isGuard)),
    schemaChanged: namesOf([...differing.filter((made) => !isGuard(made)), ...lacking(found, expected)]),
  };
}

/** A trigger may have the name of a table, and a name may occur twice. */
function lacking(of: readonly Made[], other: readonly Made[]): Made[] {
  const others = new Set(other.map((made) => JSON.stringify(made)));
  return of.filter((made) => !others.delete(JSON.stringify(made)));
}

function namesOf(all: readonly Made[]): string[] {
  return [...new Set(all.map(({ name }) => name))];
}

function madeAnew(): readonly Made[] {
  const fresh = new Database(":memory:");
  try {
    fresh.exec(schema);
    return madeIn(fresh);
  } finally {
    fresh.close();
  }
}

function madeIn(database: Sqlite): readonly Made[] {
  return database
    .prepare<[], Made>(
      `select type, name, sql from sqlite_schema
        where sql is not null and not (type = 'table' and name in ('sqlite_stat1', 'sqlite_stat4')) order by name, type`,
    )
    .all();
}
