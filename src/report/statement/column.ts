import type { Column, ColumnType } from "./shape.ts";

/** A column in one line of a shape: its type, name and heading, and what stands in it. */
export function column(
  type: ColumnType,
  name: string,
  title: string,
  about: string,
  more: Pick<Column, "currencyIn" | "total"> = {},
): Column {
  return { name, type, title, about, ...more };
}

/** An amount, and beside it the column with its currency. */
export function amountColumns(
  name: string,
  title: string,
  about: string,
  { currencyIn = `${name}_currency`, total }: Pick<Column, "currencyIn" | "total"> = {},
): Column[] {
  const amount = column("money", name, title, about, { currencyIn, ...(total === true && { total }) });
  if (currencyIn !== `${name}_currency`) return [amount];
  return [amount, column("text", currencyIn, `${title}: currency`, "Currency of that amount (ISO 4217).")];
}
