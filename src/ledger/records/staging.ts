import type Database from "better-sqlite3";
import { inTemporarySpace, temporaryDatabase } from "../database/temporary.ts";

interface StagedRow {
  key: string;
  place: string;
  text: string;
}

interface JoinedRow {
  header: StagedRow;
  details: Record<string, { place: string; text: string }[]>;
}

interface GroupedRows {
  key: string;
  count: number;
  rows: { place: string; text: string }[];
  marked: boolean;
}

const schema = `
  create table row (
    id integer primary key,
    part text not null,
    key text not null,
    place text not null,
    text text not null
  ) strict;
`;

const page = 1_000;

/** Joins header and detail rows on disk. Raw CRM rows never get into the ledger file. */
export function createStaging(): { open(): StagingArea } {
  return { open: () => new StagingArea() };
}

class StagingArea {
  readonly #database: Database.Database;
  readonly #insert: Database.Statement<[string, string, string, string]>;
  #known: Database.Statement<[string, string], { key: string }> | undefined;
  readonly #put: (part: string, rows: StagedRow[]) => void;

  constructor() {
    this.#database = temporaryDatabase(schema, { cacheKiB: 16_000 });
    this.#insert = this.#database.prepare("insert into row (part, key, place, text) values (?, ?, ?, ?)");
    this.#put = this.#database.transaction((part: string, rows: StagedRow[]) => {
      for (const row of rows) this.#insert.run(part, row.key, row.place, row.text);
    });
  }

  put(part: string, rows: StagedRow[]): void {
    inTemporarySpace(() => this.#put(part, rows));
  }

  /** Rows in their order, `batch` at a time. More rows may be added meanwhile. */
  *rows(part: string, batch: number): Generator<StagedRow[], void, void> {
    const statement = this.#database.prepare<[number, string, number], StagedRow & { id: number }>(
      "select id, key, place, text from row where id > ? and +part = ? order by id limit ?",
    );
    let last = 0;
    for (;;) {
      const found = statement.all(last, part, batch);
      const end = found.at(-1);
      if (end === undefined) return;
      last = end.id;
      yield found.map(({ key, place, text }) => ({ key, place, text }));
    }
  }

  /** Headers with a unique key, in their order, with their rows of all other parts. */
  *joined(headerPart: string, batch: number): Generator<JoinedRow[], void, void> {
    this.#sort();
    // `+part` keeps the planner on the order of ids. Otherwise it would sort for every page.
    const headers = this.#database.prepare<[number, string, number], StagedRow & { id: number }>(
      `select id, key, place, text from row header where id > ? and +part = ?
         and not exists (select 1 from row other where other.part = header.part and other.key = header.key
           and other.id <> header.id)
       order by id limit ?`,
    );
    const parts = this.#database
      .prepare<[string], { part: string }>("select distinct part from row where part <> ? order by part")
      .all(headerPart);
    const details = this.#database.prepare<[string, string], StagedRow>(
      "select key, place, text from row where part = ? and key in (select value from json_each(?)) order by id",
    );
    let last = 0;
    for (;;) {
      const found = headers.all(last, headerPart, batch);
      const end = found.at(-1);
      if (end === undefined) return;
      last = end.id;
      const joined = new Map(
        found.map(({ key, place, text }): [string, JoinedRow] => [key, { header: { key, place, text }, details: {} }]),
      );
      const keys = JSON.stringify([...joined.keys()]);
      for (const { part } of parts) {
        for (const { key, place, text } of details.all(part, keys)) {
          const row = joined.get(key);
          if (row !== undefined) (row.details[part] ??= []).push({ place, text });
        }
      }
      yield [...joined.values()];
    }
  }

  *orphans(part: string, headerPart: string): Generator<StagedRow, void, void> {
    this.#sort();
    const statement = this.#database.prepare<[number, string, string, number], StagedRow & { id: number }>(
      `select id, key, place, text from row detail where id > ? and +part = ?
         and not exists (select 1 from row header where header.part = ? and header.key = detail.key)
       order by id limit ?`,
    );
    let last = 0;
    for (;;) {
      const found = statement.all(last, part, headerPart, page);
      for (const { key, place, text } of found) yield { key, place, text };
      const end = found.at(-1);
      if (end === undefined) return;
      last = end.id;
    }
  }

  /** Keys that occur more than once, with the places and texts of all their rows. */
  *duplicates(part: string): Generator<{ key: string; places: string[]; texts: string[] }, void, void> {
    this.#sort();
    const keys = this.#database.prepare<[string, string, number], { key: string }>(
      "select key from row where part = ? and key > ? group by key having count(*) > 1 order by key limit ?",
    );
    const rows = this.#rowsOfKey();
    let last = "";
    for (;;) {
      const found = keys.all(part, last, page);
      for (const { key } of found) {
        const all = rows.all(part, key, -1);
        yield { key, places: all.map((row) => row.place), texts: all.map((row) => row.text) };
      }
      const end = found.at(-1);
      if (end === undefined) return;
      last = end.key;
    }
  }

  known(part: string, keys: readonly string[]): ReadonlySet<string> {
    this.#sort();
    this.#known ??= this.#database.prepare(
      "select distinct key from row where part = ? and key in (select value from json_each(?))",
    );
    return new Set(this.#known.all(part, JSON.stringify(keys)).map(({ key }) => key));
  }

  count(part: string): number {
    this.#sort();
    const statement = this.#database.prepare<[string], { keys: number }>(
      "select count(distinct key) as keys from row where part = ?",
    );
    return statement.get(part)?.keys ?? 0;
  }

  /** Rows by key, about `batch` at a time; only the first of a key with more than `most`. `mark` is a part. */
  *grouped(
    part: string,
    mark: string,
    { batch, most }: { batch: number; most: number },
  ): Generator<GroupedRows[], void, void> {
    this.#sort();
    const keys = this.#database.prepare<
      [string, string, string, number],
      { key: string; count: number; marks: number }
    >(
      `select key, count(*) as count,
         exists (select 1 from row other where other.part = ? and other.key = row.key) as marks
       from row where part = ? and key > ? group by key order by key limit ?`,
    );
    const rows = this.#rowsOfKey();
    let last = "";
    let held: GroupedRows[] = [];
    let size = 0;
    for (;;) {
      const found = keys.all(mark, part, last, page);
      for (const { key, count, marks } of found) {
        const taken = rows.all(part, key, count > most ? 1 : -1);
        held.push({ key, count, rows: taken, marked: marks === 1 });
        size += taken.length;
        if (size < batch) continue;
        yield held;
        held = [];
        size = 0;
      }
      const end = found.at(-1);
      if (end === undefined) break;
      last = end.key;
    }
    if (held.length > 0) yield held;
  }

  /** One sort is several times faster than an index during the inserts. */
  #sort(): void {
    inTemporarySpace(() => this.#database.exec("create index if not exists row_by_key on row (part, key, id)"));
  }

  #rowsOfKey(): Database.Statement<[string, string, number], { place: string; text: string }> {
    return this.#database.prepare("select place, text from row where part = ? and key = ? order by id limit ?");
  }

  close(): void {
    this.#database.close();
  }
}
