import { isJsonObject } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import { keyReader } from "../keys.ts";
import type { RecordLimits } from "../limits.ts";
import { sourceProblem } from "../problems.ts";
import { columnsOf } from "./columns.ts";
import type { FileItem } from "./row.ts";
import { readFiles } from "./rows.ts";
import type { TableSettings } from "./file-source-settings.ts";

/** Most entries of a look-up table, which is held in memory. */
const mostEntries = 1_000_000;

/** Reads a look-up table from files. Throws a Problem as `tableOf` does. */
export async function readTable(
  name: string,
  settings: TableSettings,
  options: { directory: string; limits: RecordLimits; signal: AbortSignal | undefined },
): Promise<ReadonlyMap<string, string>> {
  const columns = [settings.key, settings.value].flatMap(columnsOf);
  return await tableOf(name, settings, readFiles(settings, { ...options, columns, batchSize: 1_000 }));
}

/**
 * The look-up table that rows make, whatever they are from. Throws a Problem when they cannot be read whole, one of
 * them cannot be used, or a key stands twice with different values: a table that is half there would change records
 * that are right.
 */
export async function tableOf(
  name: string,
  settings: Pick<TableSettings, "key" | "value" | "nullTexts">,
  rows: AsyncGenerator<FileItem[], Problem | undefined, void>,
): Promise<ReadonlyMap<string, string>> {
  const keyOf = keyReader(settings.key);
  const valueOf = keyReader(settings.value);
  const table = new Map<string, string>();
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
        return table;
      }
      for (const item of next.value) {
        if ("bad" in item) throw wrong(item.bad.place, `has a row that cannot be used: ${item.bad.message}`);
        const { place, value } = item.row;
        if (!isJsonObject(value)) throw wrong(place, "has an element that is no object");
        const key = keyOf(value);
        const found = valueOf(value);
        if (key === undefined) throw wrong(place, `has a row without ${settings.key}`);
        if (found === undefined || settings.nullTexts.includes(found)) continue;
        if ((table.get(key) ?? found) !== found) throw wrong(place, "has a key twice, with different values");
        table.set(key, found);
        if (table.size > mostEntries) throw wrong(place, `has more than ${mostEntries} entries`);
      }
    }
  } finally {
    await rows.return(undefined);
  }
}
