import type { RecordLimits } from "../limits.ts";
import type { LookupTable } from "../mapping/context.ts";
import type { SourceItem } from "../reader.ts";
import { tableOf } from "../table.ts";
import type { TableRows } from "../table.ts";
import type { FileTableSettings } from "../table-settings.ts";
import { columnsOf } from "./columns.ts";
import { toItem } from "./items.ts";
import { readFiles } from "./rows.ts";

interface TableOptions {
  directory: string;
  limits: RecordLimits;
  signal: AbortSignal | undefined;
}

/** Reads a look-up table from files. Throws a Problem as `tableOf` does. */
export async function readFileTable(
  name: string,
  settings: FileTableSettings,
  options: TableOptions,
): Promise<LookupTable> {
  return await tableOf(name, settings, rowsOf(settings, options));
}

async function* rowsOf(settings: FileTableSettings, options: TableOptions): TableRows {
  const columns = [settings.key, settings.value, ...Object.values(settings.columns ?? {})].flatMap(columnsOf);
  const rows = readFiles(settings, { ...options, columns, batchSize: 1_000 });
  try {
    for (;;) {
      const next = await rows.next();
      if (next.done === true) return next.value;
      yield next.value.map((item): SourceItem => ("bad" in item ? item : toItem(item.row, undefined)));
    }
  } finally {
    await rows.return(undefined);
  }
}
