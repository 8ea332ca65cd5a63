import { Problem } from "../../base/errors.ts";
import type { Exact } from "./exact.ts";
import type { Cell, Column, Part, Row } from "./shape.ts";

/** Refuses a row that is not what its part says: no format writes a value that it does not understand. */
export function rowCheck(part: Part): (row: Row, number: number) => void {
  const columns = new Map(part.columns.map((column) => [column.name, column]));
  const required = part.columns.filter((column) => column.required === true);
  const amounts = part.columns.filter((column) => column.type === "money");
  return (row, number) => {
    for (const name in row) {
      const column = columns.get(name);
      const cell = row[name] ?? null;
      if (column === undefined) throw badRow(part, number, `holds ${name}, which is no column of this part`);
      if (cell !== null && !fits(column, cell)) throw badRow(part, number, `has no ${column.type} in ${name}`);
    }
    for (const { name } of required) {
      if ((row[name] ?? null) === null) throw badRow(part, number, `has nothing in ${name}, which is never empty`);
    }
    for (const { name, currencyIn } of amounts) {
      if ((row[name] ?? null) !== null && !/^[A-Z]{3}$/.test(String(row[currencyIn ?? ""])))
        throw badRow(part, number, `has an amount in ${name} and no currency for it`);
    }
  };
}

function fits({ type }: Column, cell: NonNullable<Cell>): boolean {
  switch (type) {
    case "text":
      return typeof cell === "string";
    case "list":
      return Array.isArray(cell);
    case "integer":
    case "money":
      return typeof cell === "bigint" || Number.isSafeInteger(cell);
    case "boolean":
      return typeof cell === "boolean";
    case "date":
      return typeof cell === "string" && /^\d{4}-\d{2}-\d{2}$/.test(cell) && !Number.isNaN(Date.parse(cell));
    case "instant":
      return typeof cell === "string" && /^\d{4}-.*Z$/.test(cell) && !Number.isNaN(Date.parse(cell));
  }
}

function badRow(part: Part, number: number, what: string): Problem {
  return new Problem({
    code: "statement.row",
    message: `row ${number} of the part ${part.name} ${what}; no statement was made`,
    cure: "this is a defect of crm-sync: report it, with the command that you ran",
  });
}

/** The amount, number or text in a column of a row; null where the cell is empty. */
export function cellOf(row: Row, { name }: Column): Cell {
  return row[name] ?? null;
}

/** The currency of an amount in a row. `rowCheck` saw that it is there. */
export function currencyOf(row: Row, column: Column): string {
  return String(row[column.currencyIn ?? ""]);
}

/** The amount in a cell of money, in minor units. */
export function minorOf(cell: NonNullable<Cell>): Exact {
  return typeof cell === "bigint" ? cell : Number(cell);
}

/** Whether a cell holds a list. */
export function isList(cell: Cell): cell is readonly string[] {
  return Array.isArray(cell);
}
