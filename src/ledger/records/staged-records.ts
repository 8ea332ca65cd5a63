import type { JsonObject } from "../../base/canonical-json.ts";
import type { DateZones, RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { stored } from "../database/damage.ts";
import { inTemporarySpace, temporaryDatabase, type TemporaryOptions } from "../database/temporary.ts";
import { mayName } from "./known-records.ts";

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

/** New and changed rows of a read, until it is believed: neither in memory nor in the ledger. */
export class StagedRecords {
  readonly #database;
  readonly #insert;
  #size = 0;

  constructor(options?: TemporaryOptions) {
    const schema = "create table staged (number integer primary key, key text, row text not null) strict";
    this.#database = temporaryDatabase(schema, options);
    this.#insert = this.#database.prepare("insert into staged (key, row) values (?, ?)");
  }

  get size(): number {
    return this.#size;
  }

  put(rows: readonly MappedRow[]): void {
    inTemporarySpace(() => {
      for (const row of rows) {
        const key = keyOfRow(row);
        this.#insert.run(key === undefined ? null : formatKey(key), JSON.stringify(row));
      }
    });
    this.#size += rows.length;
  }

  *pages(): Generator<MappedRow[], void, void> {
    const next = this.#database.prepare<[number, number], { number: number; row: string }>(
      "select number, row from staged where number > ? order by number limit ?",
    );
    for (let last = 0; ;) {
      const found = inTemporarySpace(() => next.all(last, page));
      const end = found.at(-1);
      if (end === undefined) return;
      last = end.number;
      yield found.map(({ row }) => stored<MappedRow>(row));
    }
  }

  /** The last row of each key, by `formatKey`. */
  find(keys: readonly RecordKey[]): Map<string, MappedRow> {
    const rows = inTemporarySpace(() => {
      this.#database.exec("create index if not exists staged_by_key on staged (key)");
      return this.#database
        .prepare<[string], { key: string; row: string }>(
          "select key, row from staged where key in (select value from json_each(?)) order by number",
        )
        .all(JSON.stringify(keys.map(formatKey)));
    });
    return new Map(rows.map(({ key, row }) => [key, stored<MappedRow>(row)]));
  }

  /** The place of an unusable row that may contain this text, or whose form is gone. */
  unusableRow(text: string): string | undefined {
    const row = "(row ->> '$.rejection.raw')";
    const statement = `select row ->> '$.rejection.place' from staged
      where ${row} = '' or ${row} is not null and ${mayName(row, "@text")} limit 1`;
    return inTemporarySpace(() => this.#database.prepare<[{ text: string }], string>(statement).pluck().get({ text }));
  }

  close(): void {
    this.#database.close();
  }
}
