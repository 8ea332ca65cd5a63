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
  "a statement behind a query of SQL Server is not looked for": {
    file: "src/source/sql/statement.ts",
    within: "statementFault",
    find: 'if (dialect === "sqlserver" && writing.has(token.text) && after !== "(" && token.text !== "replace")',
    replace: 'if (token.text === "")',
    test: "source/sql/settings.test.ts",
    title:
      "a query > of SQL Server that could not stand in brackets, or that goes on into another statement, is refused: select id from t\ndelete from t",
  },
  "a query of SQL Server may close the bracket that it stands in": {
    file: "src/source/sql/statement.ts",
    within: "statementFault",
    find: "if (token.depth < 0) return",
    replace: "if (token.depth < -9) return",
    test: "source/sql/settings.test.ts",
    title:
      "a query > of SQL Server that could not stand in brackets, or that goes on into another statement, is refused: select 1) q; select 2 from (select 3",
  },
  "an order within a query of SQL Server is not told before it is asked": {
    file: "src/source/sql/statement.ts",
    within: "bracketFault",
    find: 'text === "order" && depth === 0',
    replace: 'text === "order" && depth === 9',
    test: "source/sql/settings.test.ts",
    title:
      "a query > of SQL Server that could not stand in brackets, or that goes on into another statement, is refused: select id from t\norder by id",
  },
  "a name in brackets of SQL Server ends at a bracket that is part of it": {
    file: "src/source/sql/statement.ts",
    within: "patternOf",
    find: "String.raw`|\\[(?:[^\\]]|\\]\\])*\\]`",
    replace: "String.raw`|\\[[^\\]]*\\]`",
    test: "source/sql/settings.test.ts",
    title: "a query > of SQL Server that only reads is taken: select [a ]] ; delete] from t",
  },
  "a certificate for another name is trusted": {
    file: "src/source/sql/tls.ts",
    within: "verifying",
    find: "checkServerIdentity(serverName ?? host, $certificate)",
    replace: "undefined",
    test: "source/sql/tls.test.ts",
    title:
      "a source in PostgreSQL over TLS > is not read where the certificate bears another name, and it is said how that name is written",
  },
  "a certificate of another authority is trusted": {
    file: "src/source/sql/tls.ts",
    within: "verifying",
    find: "rejectUnauthorized: true,",
    replace: "rejectUnauthorized: false,",
    test: "source/sql/tls.test.ts",
    title:
      "a source in PostgreSQL over TLS > is not read where another authority signed, and it is said which setting names the right one",
  },
  "a file of authorities without any has those of the system trusted": {
    file: "src/source/sql/dialects.ts",
    within: "certificateOf",
    always: "holdsCertificates",
    test: "source/sql/tls.test.ts",
    title:
      "a source in PostgreSQL over TLS > is not read where the file of the authority holds no certificate, nor is another authority trusted then",
  },
  "the cursor of a reading that was left stays open": {
    file: "src/source/sql/reading.ts",
    within: "partRows",
    skips: "return",
    test: "source/sql/postgres.test.ts",
    title:
      "a source in PostgreSQL that cannot be read whole > because it was left in its middle: its cursor is closed, and another stream is read in the same view",
  },
  "the connection of a reading that was left stays open": {
    file: "src/source/sql/view.ts",
    within: "View.end",
    find: "await $snapshot?.close().catch(() => undefined);",
    replace: "$snapshot;",
    test: "source/sql/postgres.test.ts",
    title:
      "a source in PostgreSQL > keeps no connection of a reading that was left in its middle, of a look at it, and of one that failed",
  },
};
