import type { JsonObject } from "../base/canonical-json.ts";
import type { Problem } from "../base/errors.ts";
import { keyReader } from "./keys.ts";
import type { LookupTable } from "./mapping/context.ts";
import { sourceProblem } from "./problems.ts";
import type { SourceItem } from "./reader.ts";
import { columnsOfTable, namedColumns } from "./table-settings.ts";
import type { InlineTableSettings, TableColumns } from "./table-settings.ts";

/** Most entries of a look-up table, which is held in memory. */
const mostEntries = 1_000_000;

/** Rows of a table in batches, from whatever kind of source; what they return says why they are not whole. */
export type TableRows = AsyncGenerator<SourceItem[], Problem | undefined, void>;

/**
 * The look-up table that rows make. Throws a Problem when they cannot be read whole, one of them cannot be used, or a
 * key stands twice with different values: a table that is half there would change records that are right.
 */
export async function tableOf(name: string, settings: TableColumns, rows: TableRows): Promise<LookupTable> {
  const keyOf = keyReader(settings.key);
  const read = rowReader(settings);
  const table = new Map<string, string | readonly (string | undefined)[]>();
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
        const { place, value } = item.raw;
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

type Entry = string | readonly (string | undefined)[];

/** What a row gives for its key; undefined where nothing stands there. */
function rowReader({ value, columns, nullTexts }: TableColumns): (row: JsonObject) => Entry | undefined {
  const present = (text: string | undefined): string | undefined =>
    text === undefined || nullTexts.includes(text) ? undefined : text;
  if (columns === undefined) {
    const valueOf = keyReader(value ?? "");
    return (row) => present(valueOf(row));
  }
  const paths = value === undefined ? Object.values(columns) : [value, ...Object.values(columns)];
  const readers = paths.map((path) => keyReader(path));
  return (row) => readers.map((readColumn) => present(readColumn(row)));
}

/** The look-up table whose entries stand in the configuration. */
export function inlineTable(settings: InlineTableSettings): LookupTable {
  const columns = columnsOfTable(settings);
  const rows = Object.entries(settings.inline).map(([key, entry]): [string, Entry] => {
    if (typeof entry !== "object") return [key, String(entry)];
    const values = new Map(Object.entries(entry));
    return [
      key,
      (columns ?? []).map((name) => {
        const value = values.get(name);
        return value === undefined ? undefined : String(value);
      }),
    ];
  });
  return { columns, rows: new Map(rows) };
}
