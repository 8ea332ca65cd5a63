import type { CompiledQuery, Kysely } from "kysely";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Sqlite } from "./database.ts";
import { kyselyOn } from "./database.ts";
import type { LedgerTables } from "./tables.ts";

/** What the queries read from: one read-only connection, through kysely and as it is. */
export class Reading {
  readonly db: Kysely<LedgerTables>;
  readonly #database: Sqlite;
  #snapshots = 0;
  #streams = 0;

  constructor(database: Sqlite) {
    this.#database = database;
    this.db = kyselyOn<LedgerTables>(database);
  }

  /**
   * Runs `work` on one state of the ledger, whatever a run writes meanwhile. May be nested. Rows that are being streamed keep the connection on one state by
   * themselves, and SQLite takes no transaction statement meanwhile.
   */
  async snapshot<T>(work: () => Promise<T>): Promise<T> {
    if (this.#streams === 0 && !this.#database.inTransaction) this.#database.exec("begin");
    this.#snapshots += 1;
    try {
      return await work();
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
    } finally {
      this.#snapshots -= 1;
      this.#endTransaction();
    }
  }

  /** Yields the rows of a query one by one as SQLite finds them, so that memory does not grow with their number. */
  *rows<Row>(query: { compile(): CompiledQuery<Row> }): Generator<Row, void, void> {
    const { sql, parameters } = query.compile();
    const statement = this.#database.prepare<unknown[], Row>(sql);
    this.#streams += 1;
    try {
      yield* statement.iterate(...parameters);
    } finally {
      this.#streams -= 1;
      this.#endTransaction();
    }
  }

  #endTransaction(): void {
    if (this.#snapshots > 0 || this.#streams > 0 || !this.#database.open) return;
    if (this.#database.inTransaction) this.#database.exec("commit");
  }

  close(): void {
    if (this.#database.open) this.#database.close();
  }
}

/** Reads a column that this program wrote as JSON. */
export function stored<T>(text: string): T {
  return JSON.parse(text) as T;
}

export function storedOrNull(text: string | null): Json {
  return text === null ? null : stored<Json>(text);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function keyOf(namespace: string | null, id: string | null): RecordKey | null {
  return namespace === null || id === null ? null : { namespace, id };
}
