import type { Sqlite } from "./database.ts";

type Makers = Readonly<Record<string, () => unknown>>;
export type Prepared<M extends Makers> = { readonly [Name in keyof M]: ReturnType<M[Name]> };

/**
 * The statements of a group of tables. A value that a column is compared with has a sign before it (`id = +?`): SQLite
 * looks at a bare one while it plans, and plans the statement anew when another value is bound; behind the sign it is
 * not seen, and the statement is planned once.
 */
export const statements = {
  /**
   * Each is prepared once, when it is first used: a command asks for few of them, and preparing all takes longer than
   * most of its work.
   */
  onUse: <M extends Makers>(makers: M): Prepared<M> => {
    const prepared: Partial<Prepared<M>> = {};
    for (const name of Object.keys(makers) as (keyof M)[]) {
      Object.defineProperty(prepared, name, {
        configurable: true,
        enumerable: true,
        get() {
          const value = makers[name]?.();
          Object.defineProperty(prepared, name, { value, enumerable: true });
          return value;
        },
      });
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop defines every name
    return prepared as Prepared<M>;
  },
};

type Value = string | number | null;
/** In the order of their marks, or by their names. */
type Values = readonly Value[] | Readonly<Record<string, Value>>;

/* oxlint-disable typescript/no-unnecessary-type-parameters, typescript/no-unsafe-type-assertion -- whoever asks knows
   the columns of the text */

/** Statements by their names. */
export interface Sql<Name extends string> {
  row<Row>(name: Name, values?: Values): Row | undefined;
  rows<Row>(name: Name, values?: Values): Row[];
  /** The one column of a row. */
  value<Column>(name: Name, values?: Values): Column | undefined;
  /** Writes, and says how many rows that changed. */
  change(name: Name, values?: Values): number;
}

/** The statements of these texts, as `statements` has them. */
export function sqlOf<Texts extends Readonly<Record<string, string>>>(
  database: Sqlite,
  texts: Texts,
): Sql<keyof Texts & string> {
  const makers = Object.entries(texts).map(([name, text]) => [name, () => database.prepare(text)] as const);
  const run = statements.onUse(Object.fromEntries(makers) as Record<keyof Texts, () => ReturnType<Sqlite["prepare"]>>);
  return {
    row: <Row>(name: keyof Texts, values: Values = []) => run[name].get(values) as Row | undefined,
    rows: <Row>(name: keyof Texts, values: Values = []) => run[name].all(values) as Row[],
    value: <Column>(name: keyof Texts, values: Values = []) => run[name].pluck().get(values) as Column | undefined,
    change: (name, values = []) => run[name].run(values).changes,
  };
}
/* oxlint-enable typescript/no-unnecessary-type-parameters, typescript/no-unsafe-type-assertion */

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
