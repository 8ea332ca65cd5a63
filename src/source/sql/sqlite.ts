import { statSync } from "node:fs";
import Database from "better-sqlite3";
import type { Clock } from "../../base/clock.ts";
import { codeOf, DatabaseFailure } from "./failures.ts";
import type { Cell, Column, ColumnKind, SessionLimits, Snapshot } from "./snapshot.ts";

/** A read-only transaction. A running statement cannot be interrupted, so the time limit is checked between rows. */
export function openSqlite(file: string, limits: SessionLimits, clock: Clock): Snapshot {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new DatabaseFailure({ kind: "missing", name: file });
  return new SqliteSnapshot(file, limits, clock);
}

class SqliteSnapshot implements Snapshot {
  readonly #database: Database.Database;
  readonly #limits: SessionLimits;
  readonly #clock: Clock;
  readonly openedAt: string;
  readonly #reading = new Set<IterableIterator<unknown>>();
  #isOpen = true;

  constructor(file: string, limits: SessionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#database = guarded(false, () => {
      const options = { readonly: true, fileMustExist: true, timeout: limits.connectTimeoutMs };
      return new Database(file, options);
    });
    try {
      this.openedAt = guarded(false, () => {
        this.#database.defaultSafeIntegers(true);
        this.#database.pragma("query_only = on");
        this.#database.exec("begin");
        this.#database.prepare("select count(*) from sqlite_schema").get();
        const now = this.#database.prepare<[], string>("select strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
        return now.pluck().get() ?? "";
      });
    } catch (thrown) {
      this.#database.close();
      throw thrown;
    }
  }

  /** Columns may hold any type. Times have one of two forms, with or without seconds. Others do not sort with these. */
  atLeast(column: string, time: string): string {
    const text = `replace(replace(${column}, 'T', ' '), 'Z', '')`;
    return (
      `(${text} >= substr('${time}', 1, length(${text})) or typeof(${column}) <> 'text' ` +
      `or substr(${column}, 11) glob '*[+-]*' or ${column} not glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T]*')`
    );
  }

  async columns(statement: string): Promise<Column[]> {
    return await Promise.resolve(columnsOf(this.#prepare(statement)));
  }

  async *rows(statement: string, size: number): AsyncGenerator<Cell[][], void, void> {
    const prepared = this.#prepare(statement);
    const columns = columnsOf(prepared);
    const rows = prepared.raw(true).iterate();
    const { statementTimeoutMs } = this.#limits;
    this.#reading.add(rows);
    try {
      for (;;) {
        const begun = this.#clock.now();
        const batch: Cell[][] = [];
        while (batch.length < size) {
          const next = guarded(false, () => rows.next());
          if (!this.#isOpen) throw new DatabaseFailure({ kind: "lost" });
          if (next.done === true) break;
          batch.push(cellsOf(next.value, columns));
          if (this.#clock.now() - begun > statementTimeoutMs) throw new DatabaseFailure({ kind: "timed-out" });
        }
        if (batch.length > 0) yield batch;
        if (batch.length < size) return;
      }
    } finally {
      rows.return?.();
      this.#reading.delete(rows);
    }
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    for (const rows of this.#reading) rows.return?.();
    this.#database.close();
    await Promise.resolve();
  }

  #prepare(statement: string): Database.Statement {
    return guarded(true, () => {
      const prepared = this.#database.prepare(statement);
      if (!prepared.readonly || !prepared.reader) throw new DatabaseFailure({ kind: "writes" });
      // Throws if there is a placeholder, because it has no value.
      return prepared.bind();
    });
  }
}

function columnsOf(statement: Database.Statement): Column[] {
  const found = statement.columns();
  const names = new Set(found.map(({ name }) => name));
  return found.map(({ name, type }) => {
    // SQLite names the second of two equal columns `name:1`.
    const plain = name.replace(/:\d+$/u, "");
    return { name: names.has(plain) ? plain : name, kind: kindOf(type ?? ""), type: type ?? "" };
  });
}

/** SQLite stores any value in any column, so few declared types are reliable. */
function kindOf(declared: string): ColumnKind {
  const type = declared.toLowerCase().replace(/\(.*/u, "").trim();
  if (/^bool(?:ean)?$/u.test(type)) return "boolean";
  if (/^jsonb?$/u.test(type)) return "json";
  if (/^(?:decimal|numeric)$/u.test(type) && declared.includes(",")) return "decimal";
  if (/^(?:timestamptz|timestamp with time zone)$/u.test(type)) return "instant";
  if (/^(?:timestamp|datetime|timestamp without time zone)$/u.test(type)) return "local";
  return "any";
}

function cellsOf(row: unknown, columns: readonly Column[]): Cell[] {
  if (!Array.isArray(row)) return [];
  return row.map((cell: unknown, index) => {
    if (typeof cell === "number" || typeof cell === "bigint") return numberOf(cell, columns[index]);
    return typeof cell === "string" || cell instanceof Uint8Array ? cell : null;
  });
}

/** Pads a number to its declared decimals, as other databases do. SQLite may store more decimals; all are kept. */
function numberOf(cell: number | bigint, column: Column | undefined): Cell {
  const [, decimals] = column?.kind === "decimal" ? (/,\s*(\d{1,2})\s*\)/u.exec(column.type) ?? []) : [];
  const [, whole, fraction = ""] = /^(-?\d+)(?:\.(\d+))?$/u.exec(String(cell)) ?? [];
  if (decimals === undefined || whole === undefined) return cell;
  const padded = fraction.padEnd(Number(decimals), "0");
  return padded === "" ? whole : `${whole}.${padded}`;
}

function guarded<Value>(preparing: boolean, call: () => Value): Value {
  try {
    return call();
  } catch (thrown) {
    throw thrown instanceof DatabaseFailure ? thrown : failureOf(thrown, preparing);
  }
}

function failureOf(thrown: unknown, preparing: boolean): DatabaseFailure {
  const code = codeOf(thrown) || undefined;
  const is = (codes: string): boolean => new RegExp(`^SQLITE_(?:${codes})`, "u").test(code ?? "");
  if (is("READONLY")) return new DatabaseFailure({ kind: "writes", code });
  if (is("CANTOPEN|IOERR|NOTADB|CORRUPT|BUSY|LOCKED|PROTOCOL")) return new DatabaseFailure({ kind: "down", code });
  if (is("AUTH|PERM")) return new DatabaseFailure({ kind: "forbidden", code });
  if (!preparing) return new DatabaseFailure({ kind: "row", code });
  return new DatabaseFailure({ kind: "query", code, words: thrown instanceof Error ? thrown.message : "" });
}
