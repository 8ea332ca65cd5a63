import type { Problem } from "../../base/errors.ts";
import { recordLimitsSchema } from "../limits.ts";
import { toItem } from "../file/items.ts";
import type { TableRows } from "../table.ts";
import { columnsStatement, queryProblem, statementOf } from "./query.ts";
import type { Query } from "./query.ts";
import { columnOf } from "./sql-source-settings.ts";
import { rowReader } from "./values.ts";
import type { Open } from "./view.ts";

/** Rows that are taken at a time. */
const page = 1_000;

/** The rows of a look-up table that is a query; returns why they are not whole. */
export async function* tableRows(
  query: Query,
  paths: readonly string[],
  { dialect, snapshot }: Open,
  failed: (thrown: unknown, query: Query) => Problem,
): TableRows {
  try {
    const columns = await snapshot.columns(columnsStatement(query));
    for (const path of paths) {
      const name = columnOf(path);
      if (name !== undefined && !columns.some((column) => column.name === name))
        return queryProblem(
          query,
          undefined,
          `gives no column ${name}`,
          "Correct the name, or have the query give it.",
        );
    }
    const read = rowReader(columns, { zone: undefined, limits: recordLimitsSchema.parse({}), json: new Set() });
    let count = 0;
    for await (const rows of snapshot.rows(statementOf(query, {}, dialect), columns, page)) {
      yield rows.map((cells) => {
        count += 1;
        const item = read(cells, `${query.settings}, row ${count}`);
        return "bad" in item ? item : toItem(item.row, undefined);
      });
    }
    return undefined;
  } catch (thrown) {
    return failed(thrown, query);
  }
}
