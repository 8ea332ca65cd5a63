import type { JsonObject } from "../base/canonical-json.ts";
import { Problem } from "../base/errors.ts";
import { readFileTable } from "./file/table.ts";
import type { HttpTable } from "./http/http-table-settings.ts";
import { recordLimitsSchema } from "./limits.ts";
import type { LookupTable } from "./mapping/context.ts";
import type { AnyTable } from "./source-settings.ts";
import type { SqlTable } from "./sql/sql-source-settings.ts";
import { inlineTable, tableOf } from "./table.ts";
import type { TableRows } from "./table.ts";

type Tables = ReadonlyMap<string, LookupTable>;

/** What a source gives the rows of look-up tables with; each returns why they are not whole. */
export interface TableReader {
  /** Of a list of its service. */
  lists?(name: string, settings: HttpTable, signal: AbortSignal | undefined): TableRows;
  /** Of a query of its database. */
  queries?(name: string, settings: SqlTable): TableRows;
}

/**
 * The tables of a source. From the first stream that is read until its reading ends they stay as they are, so that its
 * streams are mapped alike and nobody is asked again; before that they are looked at anew each time.
 */
export class HeldTables {
  readonly #settings: Readonly<Record<string, AnyTable>>;
  readonly #reader: TableReader;
  readonly #directory: string;
  #held: Promise<Tables> | undefined;
  #isKept = false;

  /** `directory` is where files are. */
  constructor(settings: Readonly<Record<string, AnyTable>>, reader: TableReader, directory: string) {
    this.#settings = settings;
    this.#reader = reader;
    this.#directory = directory;
  }

  /** Throws a Problem for one that cannot be read whole. */
  async read(signal: AbortSignal | undefined): Promise<Tables> {
    const held = this.#isKept && this.#held !== undefined ? this.#held : this.#read(signal);
    this.#held = held;
    try {
      return await held;
    } catch (thrown) {
      if (this.#held === held) this.#held = undefined;
      throw thrown;
    }
  }

  /** Why they cannot be read whole. */
  async problem(signal: AbortSignal | undefined): Promise<Problem | undefined> {
    try {
      await this.read(signal);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof Problem) return thrown;
      throw thrown;
    }
  }

  keep(): void {
    this.#isKept = true;
  }

  release(): void {
    this.#isKept = false;
    this.#held = undefined;
  }

  async #read(signal: AbortSignal | undefined): Promise<Tables> {
    const limits = recordLimitsSchema.parse({});
    const tables = new Map<string, LookupTable>();
    for (const [name, table] of Object.entries(this.#settings)) {
      const read =
        "inline" in table
          ? inlineTable(table)
          : "files" in table
            ? await readFileTable(name, table, { directory: this.#directory, limits, signal })
            : await tableOf(name, table, rowsOfTable(name, table, this.#reader, signal));
      tables.set(name, read);
    }
    return tables;
  }
}

/** The rows of a look-up table that a service or a database is asked for. */
function rowsOfTable(
  name: string,
  settings: HttpTable | SqlTable,
  reader: TableReader,
  signal: AbortSignal | undefined,
): TableRows {
  const rows = "url" in settings ? reader.lists?.(name, settings, signal) : reader.queries?.(name, settings);
  if (rows === undefined) throw new TypeError(`the table ${name} is of another kind than its source`);
  return rows;
}

/** A table as the fingerprint of a mapping has it. */
export function tableJson({ columns, rows }: LookupTable): JsonObject {
  const entries = Object.fromEntries(
    [...rows].map(([key, row]) => [key, typeof row === "string" ? row : row.map((text) => text ?? null)]),
  );
  return columns === undefined ? entries : { columns: [...columns], rows: entries };
}
