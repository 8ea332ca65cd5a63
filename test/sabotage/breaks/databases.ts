import type { Breaks } from "../break.ts";

/** Sources that are asked in SQL. */
export const databases: Breaks = {
  "each stream of a database is read as of a moment of its own": {
    file: "src/source/sql/view.ts",
    within: "View.open",
    find: "this.#open ??= this.#opened();",
    replace: "this.#open = this.#opened();",
    test: "source/sql/sqlite.test.ts",
    title:
      "a source in SQLite > shows all its streams as of one moment, whatever is written meanwhile, and a later one as of a later",
  },
  "a query that writes is not looked for": {
    file: "src/source/sql/statement.ts",
    within: "statementFault",
    find: 'if (writing.has(token.text) && after !== "(" && (before === "(" || before === ")"))',
    replace: 'if (token.text === "")',
    test: "source/sql/settings.test.ts",
    title: "a query > that does more is refused: with gone as (delete from t returning *) select * from gone",
  },
  "a session in PostgreSQL may write": {
    file: "src/source/sql/postgres.ts",
    within: "PostgresSnapshot.start",
    find: "begin isolation level repeatable read read only; ",
    replace: "begin isolation level repeatable read read write; ",
    test: "source/sql/postgres.test.ts",
    title:
      "a source in PostgreSQL that cannot be read whole > because a query writes, behind a function too: nothing is written",
  },
  "what changed at the very moment of the last change is not asked for": {
    file: "src/source/sql/sqlite.ts",
    within: "sqlite",
    find: "(${text} >= ${placeOfValue}",
    replace: "(${text} > ${placeOfValue}",
    test: "cli/sql-source.test.ts",
    title:
      "customers that are read from a database > are made once, and of three runs each asks for what changed since the one before",
  },
};
