import { isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import { type Problem, problemOf } from "../base/errors.ts";
import { columnsOf, readFiles } from "./file/source.ts";
import { keyReader, recordLimitsSchema } from "./json.ts";
import type { LookupTable } from "./mapping/context.ts";
import { sourceProblem } from "./problems.ts";
import type { FormatReader } from "./reader.ts";
import {
  columnsOfTable,
  namedColumns,
  type InlineTableSettings,
  type TableColumns,
  type TableSettings,
} from "./table-settings.ts";

const mostEntries = 1_000_000;

/** Throws a Problem for unusable rows, or a key with two values: half a table would damage good records. */
export async function tableOf(name: string, settings: TableColumns, rows: FormatReader): Promise<LookupTable> {
  const keyOf = keyReader(settings.key);
  const read = rowReader(settings);
  const table = new Map<string, readonly (string | undefined)[]>();
  const wrong = (place: string, message: string): Problem =>
    sourceProblem(
      "source.wrong-shape",
      place,
      `The table ${name} ${message}.`,
      "Correct it where it comes from; a look-up table has to be whole.",
    );
  try {
    for (;;) {
      const next = await rows.next();
      if (next.done === true) {
        if (next.value !== undefined) throw next.value;
        return { columns: namedColumns(settings), rows: table };
      }
      for (const item of next.value) {
        if ("bad" in item) throw wrong(item.bad.place, `has a row that cannot be used: ${item.bad.message}`);
        const { place, value } = item.row;
        if (!isJsonObject(value)) throw wrong(place, "has a row that cannot be used: the record is not an object");
        const key = keyOf(value);
        if (key === undefined) throw wrong(place, `has a row without ${settings.key}`);
        const found = read(value);
        if (found === undefined) continue;
        const known = table.get(key);
        if (known !== undefined && JSON.stringify(known) !== JSON.stringify(found))
          throw wrong(place, "has a key twice, with different values");
        table.set(key, found);
        if (table.size > mostEntries) throw wrong(place, `has more than ${mostEntries} entries`);
      }
    }
  } finally {
    await rows.return(undefined);
  }
}

function rowReader(settings: TableColumns): (row: JsonObject) => readonly (string | undefined)[] | undefined {
  const { value, columns = {}, nullTexts } = settings;
  const readers = [...(value === undefined ? [] : [value]), ...Object.values(columns)].map((path) => keyReader(path));
  return (row) => {
    const texts = readers.map((read) => read(row)).map((text) => (nullTexts.includes(text ?? "") ? undefined : text));
    return settings.columns === undefined && texts[0] === undefined ? undefined : texts;
  };
}

function inlineTable(settings: InlineTableSettings): LookupTable {
  const columns = columnsOfTable(settings);
  const rows = Object.entries(settings.inline).map(([key, entry]): [string, (string | undefined)[]] => {
    if (typeof entry !== "object") return [key, [String(entry)]];
    const values = new Map(Object.entries(entry));
    return [key, columns.map((name) => values.get(name)).map((one) => (one === undefined ? undefined : String(one)))];
  });
  return { columns, rows: new Map(rows) };
}

type Tables = ReadonlyMap<string, LookupTable>;

/** Tables stay fixed from the first stream read until the reading ends, so that all streams use the same ones. */
export class HeldTables {
  readonly #settings: Readonly<Record<string, TableSettings>>;
  readonly #directory: string;
  #held: Promise<Tables> | undefined;
  #isKept = false;

  constructor(settings: Readonly<Record<string, TableSettings>>, directory: string) {
    this.#settings = settings;
    this.#directory = directory;
  }

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

  async problem(signal: AbortSignal | undefined): Promise<Problem | undefined> {
    return await this.read(signal).then(() => undefined, problemOf);
  }

  keep(): void {
    this.#isKept = true;
  }

  release(): void {
    this.#isKept = false;
    this.#held = undefined;
  }

  async #read(signal: AbortSignal | undefined): Promise<Tables> {
    const tables = new Map<string, LookupTable>();
    const options = { directory: this.#directory, limits: recordLimitsSchema.parse({}), batchSize: 1_000, signal };
    for (const [name, table] of Object.entries(this.#settings)) {
      if ("inline" in table) {
        tables.set(name, inlineTable(table));
        continue;
      }
      const columns = [table.key, table.value, ...Object.values(table.columns ?? {})].flatMap(columnsOf);
      tables.set(name, await tableOf(name, table, readFiles(table, { ...options, columns })));
    }
    return tables;
  }
}

export function tableJson({ columns, rows }: LookupTable): JsonObject {
  const entries = [...rows].map(([key, row]): [string, Json] => [key, row.map((text) => text ?? null)]);
  return { columns: [...columns], rows: Object.fromEntries(entries) };
}
