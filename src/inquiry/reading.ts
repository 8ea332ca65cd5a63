import type { CompiledQuery, SqliteDatabase } from "kysely";
import { Kysely, SqliteDialect } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import { databaseProblem, isFatal } from "../ledger/database/damage.ts";
import type { Sqlite } from "../ledger/database/database.ts";
import type { LedgerTables } from "../ledger/tables.ts";

const mostPrepared = 200;

/** What the queries read from: one read-only connection, through kysely and as it is. */
export class Reading {
  readonly db: Kysely<LedgerTables>;
  readonly #path: string;
  readonly #database: Sqlite;
  readonly #statements = new Map<string, ReturnType<Sqlite["prepare"]>>();
  #snapshots = 0;
  #streams = 0;

  constructor(path: string, database: Sqlite) {
    this.#path = path;
    this.#database = database;
    this.db = new Kysely<LedgerTables>({ dialect: new SqliteDialect({ database: remembering(database) }) });
  }

  /**
   * Runs `work` on one state of the ledger, whatever a run writes meanwhile. May be nested. Rows that are being
   * streamed keep the connection on one state by themselves, and SQLite takes no transaction statement meanwhile.
   */
  async snapshot<T>(work: () => Promise<T>): Promise<T> {
    if (this.#streams === 0 && !this.#database.inTransaction) this.#database.exec("begin");
    this.#snapshots += 1;
    try {
      return await work();
    } catch (error) {
      throw this.#named(error);
    } finally {
      this.#snapshots -= 1;
      this.#endTransaction();
    }
  }

  /** The same for what is streamed: one state from the first chunk to the last. */
  async *oneState<T>(chunks: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    if (this.#streams === 0 && !this.#database.inTransaction) this.#database.exec("begin");
    this.#snapshots += 1;
    try {
      yield* chunks;
    } catch (error) {
      throw this.#named(error);
    } finally {
      this.#snapshots -= 1;
      this.#endTransaction();
    }
  }

  /** All rows of a statement with named parameters; each statement is prepared once. */
  all(statement: string, parameters: object): unknown[] {
    let prepared = this.#statements.get(statement);
    if (prepared === undefined) this.#statements.set(statement, (prepared = this.#database.prepare(statement)));
    return prepared.all(parameters);
  }

  /** Yields the rows of a query one by one as SQLite finds them, so that memory does not grow with their number. */
  *rows<Row>(query: { compile(): CompiledQuery<Row> }): Generator<Row, void, void> {
    const { sql, parameters } = query.compile();
    const statement = this.#database.prepare<unknown[], Row>(sql);
    this.#streams += 1;
    try {
      yield* statement.iterate(...parameters);
    } catch (error) {
      throw this.#named(error);
    } finally {
      this.#streams -= 1;
      this.#endTransaction();
    }
  }

  /** What SQLite says of the file, in words for people; a defect of the program stays what it is. */
  #named(error: unknown): unknown {
    return isFatal(error) ? databaseProblem(error, this.#path) : error;
  }

  #endTransaction(): void {
    if (this.#snapshots > 0 || this.#streams > 0 || !this.#database.open) return;
    if (this.#database.inTransaction) this.#database.exec("commit");
  }

  close(): void {
    if (this.#database.open) this.#database.close();
  }
}

/** The same few questions are asked for every customer of a report: each is prepared once. */
function remembering(database: Sqlite): SqliteDatabase {
  const prepared = new Map<string, ReturnType<SqliteDatabase["prepare"]>>();
  return {
    close: () => database.close(),
    prepare: (sql) => {
      const known = prepared.get(sql);
      if (known !== undefined) return known;
      const statement = database.prepare(sql);
      if (prepared.size < mostPrepared) prepared.set(sql, statement);
      return statement;
    },
  };
}

export function keyOf(namespace: string | null, id: string | null): RecordKey | null {
  return namespace === null || id === null ? null : { namespace, id };
}
