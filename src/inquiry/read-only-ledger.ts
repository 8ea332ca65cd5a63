import type { Statement } from "better-sqlite3";
import { Kysely, sql, SqliteDialect, type CompiledQuery, type RawBuilder, type SqliteDatabase } from "kysely";
import { databaseProblem, isFatal } from "../ledger/database/damage.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Sqlite } from "../ledger/database/database.ts";
import type { LedgerTables } from "../ledger/tables.ts";
import { localDates } from "../report/crm-date.ts";

const mostPrepared = 200;

interface Query<Row> {
  compile(db: Kysely<LedgerTables>): CompiledQuery<Row>;
}

/** A read-only connection for all questions. Runs may write at the same time. */
export class ReadOnlyLedger {
  readonly db: Kysely<LedgerTables>;
  readonly path: string;
  readonly #database: Sqlite;
  readonly #statements = new Map<string, ReturnType<Sqlite["prepare"]>>();
  #snapshots = 0;
  #streams = 0;

  constructor(path: string, database: Sqlite) {
    this.path = path;
    this.#database = database;
    const dates = localDates("UTC");
    database.function("crm_sync_local_date", { deterministic: true }, (at, zone) => dates(String(at), String(zone)));
    this.db = new Kysely<LedgerTables>({ dialect: new SqliteDialect({ database: remembering(database) }) });
  }

  /**
   * Runs `work` on one state of the ledger; may be nested. SQLite refuses transaction statements while rows are
   * streamed, but streamed rows already fix the state.
   */
  async oneState<T>(work: () => Promise<T>): Promise<T> {
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

  async oneStateOfAll<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.oneState(work);
    } finally {
      this.#giveBack();
    }
  }

  async *streamed<T>(chunks: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    if (this.#streams === 0 && !this.#database.inTransaction) this.#database.exec("begin");
    this.#snapshots += 1;
    try {
      yield* chunks;
    } catch (error) {
      throw this.#named(error);
    } finally {
      this.#snapshots -= 1;
      this.#endTransaction();
      this.#giveBack();
    }
  }

  reading<T>(work: (database: Sqlite) => T): T {
    try {
      return work(this.#database);
    } catch (error) {
      throw this.#named(error);
    }
  }

  all(statement: string, parameters: object): unknown[] {
    let prepared = this.#statements.get(statement);
    if (prepared === undefined) this.#statements.set(statement, (prepared = this.#database.prepare(statement)));
    return prepared.all(parameters);
  }

  /** The `+` keeps SQLite from planning the statement again for each value. */
  prepared<Row>(query: CompiledQuery<Row>): Statement<unknown[], Row> {
    return this.#database.prepare<unknown[], Row>(query.sql.replaceAll(" = ?", " = +?"));
  }

  /** Yields rows one by one, so that memory does not grow with their number. */
  *rows<Row>(query: Query<Row>): Generator<Row, void, void> {
    const { sql: text, parameters } = query.compile(this.db);
    const statement = this.#database.prepare<unknown[], Row>(text);
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

  #named(error: unknown): unknown {
    return isFatal(error) ? databaseProblem(error, this.path) : error;
  }

  #endTransaction(): void {
    if (this.#snapshots > 0 || this.#streams > 0 || !this.#database.open) return;
    if (this.#database.inTransaction) this.#database.exec("commit");
  }

  /** Returns SQLite's memory: another connection of the same command may need as much (closing a period). */
  #giveBack(): void {
    if (this.#snapshots === 0 && this.#streams === 0 && this.#database.open) this.#database.pragma("shrink_memory");
  }

  close(): void {
    if (this.#database.open) this.#database.close();
  }
}

/** Private values are read only here, and only if a person asks for them. */
export async function privateBody(ledger: ReadOnlyLedger, ref: string): Promise<string | undefined> {
  const row = await ledger.db
    .selectFrom("private_value")
    .select("body")
    .where("ref", "=", ref)
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.body ?? undefined;
}

/** Both columns are null together. */
export function keyOrNull(namespace: string | null, id: string | null): RecordKey | null {
  return namespace === null || id === null ? null : { namespace, id };
}

/** Placeholder for the customer when a query is built. */
const anyCustomer: RecordKey = { namespace: "\0namespace", id: "\0id" };

/** Builds and prepares a query once for each ledger, because building takes longer than running it. */
export function ofEachCustomer<Row>(
  query: (ledger: ReadOnlyLedger, customer: RecordKey) => Query<Row>,
): (ledger: ReadOnlyLedger, customer: RecordKey) => Row[] {
  const known = new WeakMap<ReadOnlyLedger, (customer: RecordKey) => Row[]>();
  const prepare = (ledger: ReadOnlyLedger): ((customer: RecordKey) => Row[]) => {
    const compiled = query(ledger, anyCustomer).compile(ledger.db);
    const statement = ledger.prepared(compiled);
    return ({ namespace, id }) =>
      statement.all(
        ...compiled.parameters.map((value) =>
          value === anyCustomer.namespace ? namespace : value === anyCustomer.id ? id : value,
        ),
      );
  };
  return (ledger, customer) => {
    const asked = known.get(ledger) ?? prepare(ledger);
    known.set(ledger, asked);
    return asked(customer);
  };
}

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

/** Literals for the condition of a partial index. SQLite does not use the index with parameters. */
export function spelled<Value extends string>(values: readonly Value[]): RawBuilder<Value>[] {
  return values.map((value) => sql.lit(value));
}

type Question<Parameters, Row> = (ledger: ReadOnlyLedger, parameters: Parameters) => Row[];

export function asked<Parameters extends object, Row>(text: string): Question<Parameters, Row> {
  const known = new WeakMap<ReadOnlyLedger, Statement<[Parameters], Row>>();
  // The `+` keeps SQLite from planning the statement again for each value.
  const planned = text.replaceAll(/@(?=[a-z])/gu, "+@");
  return (ledger, parameters) => {
    let statement = known.get(ledger);
    if (statement === undefined) {
      statement = ledger.reading((database) => database.prepare<[Parameters], Row>(planned));
      known.set(ledger, statement);
    }
    return statement.all(parameters);
  };
}
