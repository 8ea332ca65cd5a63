import Database from "better-sqlite3";
import type { JsonObject } from "../../base/canonical-json.ts";
import type { DateZones, RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { stored } from "../database/damage.ts";
import { mayName } from "./known-records.ts";
import { noTemporarySpace } from "./seen-forms.ts";

/** A record to take up. `rawHash` covers the raw form and the mapping. */
export interface IngestedRecord {
  rawHash: string;
  place: string;
  key: RecordKey;
  customer: RecordKey;
  record: JsonObject;
  zones?: DateZones | undefined;
  /** Without secrets. */
  raw: string;
}

/** An unusable record. `raw` has no secrets. */
export interface IngestedRejection {
  rawHash: string;
  place: string;
  key: RecordKey | undefined;
  customer: RecordKey | undefined;
  field: string;
  code: string;
  message: string;
  expected: string | undefined;
  raw: string;
  /** The record that it may be, which is therefore not missing. */
  twin?: RecordKey | undefined;
}

export type MappedRow = { record: IngestedRecord } | { rejection: IngestedRejection };

const page = 500;

export function keyOfRow(row: MappedRow): RecordKey | undefined {
  return "record" in row ? row.record.key : row.rejection.key;
}

/**
 * New and changed rows of a read, until it is believed. A temporary SQLite database keeps them out of memory and out of
 * the ledger. The system removes it on close or death.
 */
export class StagedRecords {
  readonly #database: Database.Database;
  readonly #insert: Database.Statement<[string | null, string]>;
  #size = 0;

  constructor() {
    // An empty name is a private temporary file. It is written only when it outgrows the page cache.
    this.#database = new Database("");
    this.#database.pragma("journal_mode = off");
    this.#database.pragma("synchronous = off");
    this.#database.pragma("temp_store = file");
    this.#database.exec("create table staged (number integer primary key, key text, row text not null) strict");
    this.#insert = this.#database.prepare("insert into staged (key, row) values (?, ?)");
  }

  get size(): number {
    return this.#size;
  }

  put(rows: readonly MappedRow[]): void {
    try {
      for (const row of rows) {
        const key = keyOfRow(row);
        this.#insert.run(key === undefined ? null : formatKey(key), JSON.stringify(row));
      }
    } catch (error) {
      throw error instanceof Database.SqliteError ? noTemporarySpace(error) : error;
    }
    this.#size += rows.length;
  }

  *pages(): Generator<MappedRow[], void, void> {
    const next = this.#database.prepare<[number, number], { number: number; row: string }>(
      "select number, row from staged where number > ? order by number limit ?",
    );
    for (let last = 0; ;) {
      const found = next.all(last, page);
      const end = found.at(-1);
      if (end === undefined) return;
      last = end.number;
      yield found.map(({ row }) => stored<MappedRow>(row));
    }
  }

  /** The last row of each key, by `formatKey`. */
  find(keys: readonly RecordKey[]): Map<string, MappedRow> {
    this.#database.exec("create index if not exists staged_by_key on staged (key)");
    const rows = this.#database
      .prepare<[string], { key: string; row: string }>(
        "select key, row from staged where key in (select value from json_each(?)) order by number",
      )
      .all(JSON.stringify(keys.map(formatKey)));
    return new Map(rows.map(({ key, row }) => [key, stored<MappedRow>(row)]));
  }

  /** The place of an unusable row that may contain this text, or whose form is gone. */
  unusableRow(text: string): string | undefined {
    return this.#database
      .prepare<[{ text: string }], string>(
        `select row ->> '$.rejection.place' from staged where row ->> '$.rejection.raw' = ''
          or row ->> '$.rejection.raw' is not null and ${mayName("(row ->> '$.rejection.raw')", "@text")} limit 1`,
      )
      .pluck()
      .get({ text });
  }

  close(): void {
    this.#database.close();
  }
}
