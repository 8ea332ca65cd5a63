/** The column of a table with several that is found where `lookup` names none. */
export const valueColumn = "";

/** A look-up table: what stands in its columns for each key. */
export interface LookupTable {
  /** The names of its columns; undefined where a key has one value. */
  readonly columns: readonly string[] | undefined;
  /** By key the value, or a text for each of the columns: undefined where nothing stands there. */
  readonly rows: ReadonlyMap<string, string | readonly (string | undefined)[]>;
}

/** A table that has one value a key. */
export function valueTable(entries: Readonly<Record<string, string>>): LookupTable {
  return { columns: undefined, rows: new Map(Object.entries(entries)) };
}
