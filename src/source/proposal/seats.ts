import type { JsonObject } from "../../base/canonical-json.ts";
import { valuesAt } from "../mapping/ways.ts";
import { parsePath } from "../mapping/path.ts";
import type { ColumnFacts } from "./columns.ts";
import { columnsByField } from "./find.ts";
import { withinFirst } from "./propose.ts";

/** How rows of seats become a record for each person: settings of the stream, and its columns as mappings see them. */
interface GroupedSeats {
  group: JsonObject;
  columns: ColumnFacts[];
}

/** The name under which a mapping sees the rows of a person. */
export const seatRows = "seats";

/**
 * A list of staff in which people have several rows, one for each of their seats, read as one record for each of them;
 * undefined where each has one row.
 */
export function groupedSeats(columns: readonly ColumnFacts[], rows: readonly JsonObject[]): GroupedSeats | undefined {
  const found = columnsByField("staff", columns);
  const id = found.get("id")?.column;
  if (id === undefined || id.isUnique || !id.isFilled) return undefined;
  const agreed = new Map<string, string>();
  for (const [field, { column }] of found) {
    if (column.path === id.path || field === "order" || !allAgree(rows, id.path, column.path)) continue;
    agreed.set(column.path, field);
  }
  const fields = Object.fromEntries([...agreed].map(([path, field]) => [field, path]));
  return {
    group: { by: id.path, into: seatRows, ...(agreed.size === 0 ? {} : { fields }) },
    columns: columns.map((column) => {
      const path = column.path === id.path ? "key" : agreed.get(column.path);
      return { ...column, path: path ?? withinFirst(seatRows, column.path), isUnique: path === "key" };
    }),
  };
}

/** Whether all rows of one key have the same at a path. */
function allAgree(rows: readonly JsonObject[], by: string, path: string): boolean {
  const known = new Map<string, string>();
  return rows.every((row) => {
    const key = textAt(row, by);
    const text = textAt(row, path);
    const before = known.get(key) ?? text;
    known.set(key, before);
    return before === text;
  });
}

function textAt(row: JsonObject, path: string): string {
  const parsed = parsePath(path);
  return parsed.ok ? JSON.stringify(valuesAt(row, parsed.value.steps)) : "";
}
