import { columnsOf } from "../file/columns.ts";
import { recordLimitsSchema } from "../limits.ts";
import type { TableRows } from "../table.ts";
import type { HttpTable } from "./http-table-settings.ts";
import type { ListSettings } from "./list-reading.ts";
import type { List } from "./list.ts";

/** Rows that are taken at a time. */
const page = 1_000;

/** The list behind a table: a row is known by `rowKey`, or by what is looked up. */
export function listOfTable(table: HttpTable): ListSettings {
  return { ...table, key: table.rowKey ?? table.key, limits: recordLimitsSchema.parse({}) };
}

/** The columns of CSV answers that the table needs. */
export function columnsOfList({ key, rowKey, value, columns, paging }: HttpTable): string[] {
  const paths = [key, rowKey, value, ...Object.values(columns ?? {}), "key" in paging ? paging.key : undefined];
  return paths.flatMap(columnsOf);
}

/** The rows of a look-up table that is a list; returns why they are not whole. */
export async function* tableRows(list: List, signal: AbortSignal | undefined): TableRows {
  const reading = list.read({ batchSize: page, ...(signal === undefined ? {} : { signal }) });
  try {
    for (;;) {
      const next = await reading.next();
      if (next.done === true) return next.value.problem;
      yield next.value;
    }
  } finally {
    await reading.return({ complete: false, full: true, rows: 0 });
  }
}
