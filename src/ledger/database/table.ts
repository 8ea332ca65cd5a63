/** A table of the ledger by its name; of its rows only the type is known. */
export interface Table<Row> {
  readonly row?: Row;
}

export function table<Row>(): Table<Row> {
  return {};
}

/** The rows of tables by name, as kysely takes them. */
export type RowsOf<Tables> = { [Name in keyof Tables]: Tables[Name] extends Table<infer Row> ? Row : never };

/** Columns of a row as a statement reads them that leaves out rows in which one of them is null. */
export type Full<Row, Column extends keyof Row> = { [Name in Column]: NonNullable<Row[Name]> };
