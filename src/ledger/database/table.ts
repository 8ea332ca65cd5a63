/** A table of the ledger by its name; of its rows only the type is known. */
export interface Table<Row> {
  readonly row?: Row;
}

export function table<Row>(): Table<Row> {
  return {};
}

/** The rows of tables by name, as kysely takes them. */
export type RowsOf<Tables> = { [Name in keyof Tables]: Tables[Name] extends Table<infer Row> ? Row : never };
