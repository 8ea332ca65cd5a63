import type { JsonObject } from "../../base/canonical-json.ts";
import { parsePath } from "../mapping/path.ts";
import { valuesAt } from "../mapping/ways.ts";
import type { ColumnFacts } from "./columns.ts";
import { columnsByField, columnsNamed } from "./find.ts";
import { instanceNames } from "./names.ts";

/** A list that gives the name of each product by its code, read as a look-up table. */
export interface ProductList {
  /** Which columns of the list a table reads. */
  table: { key: string; value: string };
  codes: ReadonlySet<string>;
}

/** The name of that table. */
export const productTable = "products";

const codes = { code: ["code", "number", "no", "nr", "id", "key"] };

/** What a list of rows that belong to no order says of products; undefined if it names none. */
export function productListOf(columns: readonly ColumnFacts[], rows: readonly JsonObject[]): ProductList | undefined {
  const found = columnsByField("lines", columns);
  if (found.has("order")) return undefined;
  const name = columnsNamed(instanceNames, columns).get("name");
  const key = [found.get("product")?.column, columnsNamed(codes, columns).get("code")].find(
    (column) => column?.isUnique === true && column.isFilled && column.path !== name?.path,
  );
  if (name === undefined || key === undefined) return undefined;
  const parsed = parsePath(key.path);
  const known = parsed.ok ? rows.flatMap((row) => valuesAt(row, parsed.value.steps)).map(String) : [];
  return { table: { key: key.path, value: name.path }, codes: new Set(known) };
}

/** How the name of a product is looked up by the column of its code; undefined if the list does not have these codes. */
export function nameInList(
  path: string | undefined,
  columns: readonly ColumnFacts[],
  list: ProductList | undefined,
): JsonObject | undefined {
  const column = columns.find((item) => item.path === path);
  if (path === undefined || list === undefined || column === undefined) return undefined;
  if (!column.examples.every((code) => list.codes.has(code))) return undefined;
  return { lookup: { table: productTable, key: path } };
}
