import Database from "better-sqlite3";
import type { Clock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { createPrivateFile, keepPrivate } from "../base/private-files.ts";
import { Refusal } from "./answers.ts";

export type Given = number | string | null;
type Named = Readonly<Record<string, Given>>;

export class Store {
  readonly database: Database.Database;
  readonly #statements = new Map<string, Database.Statement<unknown[], never>>();

  constructor(database: Database.Database) {
    this.database = database;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- whoever writes a statement knows its rows
  get<Row>(sql: string, ...values: (Given | Named)[]): Row | undefined {
    return this.#statement(sql).get(...values);
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- likewise
  all<Row>(sql: string, ...values: (Given | Named)[]): Row[] {
    return this.#statement(sql).all(...values);
  }

  run(sql: string, ...values: Given[]): number {
    return this.#statement(sql).run(...values).changes;
  }

  insert(table: string, row: Named): number {
    const columns = Object.keys(row);
    const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
    return Number(this.#statement(sql).run(...Object.values(row)).lastInsertRowid);
  }

  transact<Result>(work: () => Result): Result {
    return this.database.transaction(work).immediate();
  }

  close(): void {
    this.database.close();
  }

  #statement(sql: string): Database.Statement<unknown[], never> {
    const known = this.#statements.get(sql) ?? this.database.prepare<unknown[], never>(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

const tables = `
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS effects (operation TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS deferred (id INTEGER PRIMARY KEY, due_at INTEGER NOT NULL, kind TEXT NOT NULL,
  payload TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS enterprises (
    id INTEGER PRIMARY KEY, code TEXT NOT NULL, name TEXT NOT NULL, made_by TEXT NOT NULL, created_at INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS customers (
    id INTEGER PRIMARY KEY, enterprise_id INTEGER NOT NULL REFERENCES enterprises, channel_code TEXT NOT NULL,
    channel_customer_id TEXT NOT NULL, name TEXT NOT NULL, branch_name TEXT NOT NULL, address TEXT NOT NULL,
    kind TEXT NOT NULL,
    is_default INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS customers_by_channel ON customers (channel_customer_id, channel_code);
  CREATE INDEX IF NOT EXISTS customers_by_enterprise ON customers (enterprise_id);
  CREATE TABLE IF NOT EXISTS batches (
    id INTEGER PRIMARY KEY, channel_order_id TEXT NOT NULL, body TEXT NOT NULL, created_at INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS batches_by_channel_order ON batches (channel_order_id);
  CREATE TABLE IF NOT EXISTS license_orders (
    id INTEGER PRIMARY KEY, batch_id INTEGER NOT NULL REFERENCES batches, enterprise_id INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL, order_type TEXT NOT NULL, license_type TEXT NOT NULL, channel_code TEXT NOT NULL,
    channel_order_id TEXT NOT NULL, source_order_id INTEGER, state TEXT NOT NULL, created_at INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS license_orders_by_channel_order ON license_orders (channel_order_id);
  CREATE INDEX IF NOT EXISTS license_orders_by_customer ON license_orders (customer_id);
  CREATE TABLE IF NOT EXISTS assets (
    id INTEGER PRIMARY KEY, enterprise_id INTEGER NOT NULL, customer_id INTEGER NOT NULL,
    license_order_id INTEGER NOT NULL,
    license_type TEXT NOT NULL, asset_number TEXT NOT NULL, extensions TEXT NOT NULL, limit_start, limit_end,
    borrowed_usb_key INTEGER NOT NULL, transferred INTEGER NOT NULL, locked INTEGER NOT NULL DEFAULT 0,
    holder_id INTEGER, held_since INTEGER, lent_to_lock_id INTEGER, borrower_id INTEGER,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, removed_by INTEGER);
  CREATE UNIQUE INDEX IF NOT EXISTS live_assets_by_number ON assets (asset_number) WHERE removed_by IS NULL;
  CREATE INDEX IF NOT EXISTS live_assets_by_enterprise ON assets (enterprise_id) WHERE removed_by IS NULL;
  CREATE INDEX IF NOT EXISTS live_assets_by_holder ON assets (holder_id) WHERE removed_by IS NULL
  AND holder_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS lent_assets ON assets (borrower_id) WHERE borrower_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS live_assets_by_order ON assets (license_order_id) WHERE removed_by IS NULL;
  CREATE TABLE IF NOT EXISTS merchandises (
    id INTEGER PRIMARY KEY, asset_id INTEGER NOT NULL REFERENCES assets, parent_id INTEGER REFERENCES merchandises,
    license_order_id INTEGER NOT NULL, crm_product_id TEXT NOT NULL, number TEXT NOT NULL, name TEXT NOT NULL,
    parent_number TEXT NOT NULL, term TEXT NOT NULL, created_at INTEGER NOT NULL, removed_by INTEGER);
  CREATE INDEX IF NOT EXISTS live_merchandises_by_asset ON merchandises (asset_id) WHERE removed_by IS NULL;
  CREATE INDEX IF NOT EXISTS live_merchandises_by_order ON merchandises (license_order_id) WHERE removed_by IS NULL;
  CREATE TABLE IF NOT EXISTS products (
    id INTEGER PRIMARY KEY, asset_id INTEGER NOT NULL REFERENCES assets, merchandise_id INTEGER REFERENCES merchandises,
    license_order_id INTEGER NOT NULL, crm_product_id TEXT NOT NULL, product_uri TEXT NOT NULL, record TEXT NOT NULL,
    created_at INTEGER NOT NULL, removed_by INTEGER);
  CREATE INDEX IF NOT EXISTS live_products_by_asset ON products (asset_id) WHERE removed_by IS NULL;
  CREATE INDEX IF NOT EXISTS live_products_by_order ON products (license_order_id) WHERE removed_by IS NULL;
  CREATE INDEX IF NOT EXISTS removed_assets ON assets (removed_by) WHERE removed_by IS NOT NULL;
  CREATE INDEX IF NOT EXISTS removed_products ON products (removed_by) WHERE removed_by IS NOT NULL;
  CREATE TABLE IF NOT EXISTS staff (
    id INTEGER PRIMARY KEY, enterprise_id INTEGER NOT NULL REFERENCES enterprises, role TEXT NOT NULL,
    user_name TEXT NOT NULL,
    name TEXT NOT NULL, department_id TEXT, remark TEXT, mobile TEXT NOT NULL, password_hash TEXT NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
  CREATE UNIQUE INDEX IF NOT EXISTS live_staff_by_name ON staff (enterprise_id, user_name) WHERE deleted = 0;
  CREATE INDEX IF NOT EXISTS staff_by_enterprise ON staff (enterprise_id);
  CREATE TABLE IF NOT EXISTS online (staff_id INTEGER PRIMARY KEY REFERENCES staff);
  CREATE TABLE IF NOT EXISTS shown (product_id INTEGER PRIMARY KEY REFERENCES products, fields TEXT NOT NULL);
`;

/** Commits survive SIGKILL (WAL, synchronous NORMAL), not always a machine crash. Only one process can use it. */
export function openStore(path: string): Store {
  if (path !== ":memory:") makeStore(path);
  const database = opened(path);
  try {
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = NORMAL");
    database.pragma("wal_autocheckpoint = 4000");
    database.pragma("cache_size = -32768");
    database.exec(tables);
    return new Store(database);
  } catch (error) {
    database.close();
    throw new Problem({
      code: "sandbox.store",
      message: `the sandbox cannot use its file ${path}: ${messageOf(error)}`,
      cure: "stop the other sandbox that uses this file, or choose another file",
      exitCode: exitCodes.configuration,
      place: path,
      cause: error,
    });
  }
}

function opened(path: string): Database.Database {
  try {
    return new Database(path, { timeout: 3000 });
  } catch (error) {
    throw new Problem({
      code: "sandbox.store",
      message: `the sandbox cannot open its file ${path}: ${messageOf(error)}`,
      cure:
        "use a file in a folder where this user may write: `crm-sync sandbox --store FILE`. With --sandbox the " +
        "file is in the folder of ledger.path",
      exitCode: exitCodes.configuration,
      place: path,
      cause: error,
    });
  }
}

/** The state may contain real names, so only the owner can read it. */
function makeStore(path: string): void {
  try {
    createPrivateFile(path);
    keepPrivate(path, undefined);
  } catch {
    // SQLite reports the error of the path.
  }
}

/** Row numbers and E9's numbers start again. */
export function emptyStore(store: Store): void {
  store.transact(() => {
    store.database.pragma("defer_foreign_keys = ON");
    for (const { name } of store.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'"))
      store.run(`DELETE FROM ${name}`);
  });
}

/** Epoch milliseconds. yyyymmdd is midnight UTC; numbers below 1e11 are seconds. Null: no value or no time. */
export function epochMs(given: Given | undefined): number | null {
  if (given === null || given === undefined) return null;
  if (typeof given === "string") {
    if (/^\d+$/.test(given)) return epochMs(Number(given));
    const parsed = Date.parse(given);
    return Number.isNaN(parsed) ? null : parsed;
  }
  if (given >= 19_000_101 && given <= 21_001_231) {
    return Date.UTC(Math.floor(given / 10_000), (Math.floor(given / 100) % 100) - 1, given % 100);
  }
  return Math.abs(given) < 100_000_000_000 ? given * 1000 : given;
}

export type DeferredKind = "call" | "orders";

export interface Deferred {
  add(kind: DeferredKind, payload: string, delayMs: number): void;
  resume(): void;
  stop(): void;
}

/** `work` runs in the transaction that deletes the stored row. A Refusal is final: `refused` is called. */
export function createDeferred(
  store: Store,
  clock: Clock,
  work: (kind: DeferredKind, payload: string) => void,
  refused: (kind: DeferredKind, payload: string) => void,
): Deferred {
  let waiting = new AbortController();

  function workOff(id: number): void {
    const row = store.get<{ kind: DeferredKind; payload: string }>(
      "SELECT kind, payload FROM deferred WHERE id = ?",
      id,
    );
    if (row === undefined) return;
    const does = (what: typeof work): void =>
      store.transact(() => {
        store.run("DELETE FROM deferred WHERE id = ?", id);
        what(row.kind, row.payload);
      });
    try {
      does(work);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      does(refused);
    }
  }

  function wait(id: number, delayMs: number): void {
    const { signal } = waiting;
    clock.sleep(delayMs, signal).then(
      () => {
        if (!signal.aborted) workOff(id);
      },
      () => undefined,
    );
  }

  return {
    add(kind, payload, delayMs) {
      wait(store.insert("deferred", { due_at: clock.now() + delayMs, kind, payload }), delayMs);
    },
    resume() {
      const rows = store.all<{ id: number; due_at: number }>("SELECT id, due_at FROM deferred ORDER BY due_at, id");
      for (const { id, due_at: dueAt } of rows) wait(id, Math.max(0, dueAt - clock.now()));
    },
    stop() {
      waiting.abort();
      waiting = new AbortController();
    },
  };
}
