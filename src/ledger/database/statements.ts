import type { Sqlite } from "./database.ts";

type Makers = Readonly<Record<string, () => unknown>>;
export type Prepared<M extends Makers> = { readonly [Name in keyof M]: ReturnType<M[Name]> };

/** Write `id = +?`, not `id = ?`: for a bare parameter SQLite plans the statement again for each new value. */
export const statements = {
  /** Prepares each statement on first use: a command needs few, and preparing all takes longer than most commands. */
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
type Values = readonly Value[] | Readonly<Record<string, Value>>;

/* oxlint-disable typescript/no-unnecessary-type-parameters, typescript/no-unsafe-type-assertion -- whoever asks knows
   the columns of the text */

export interface Sql<Name extends string> {
  row<Row>(name: Name, values?: Values): Row | undefined;
  rows<Row>(name: Name, values?: Values): Row[];
  value<Column>(name: Name, values?: Values): Column | undefined;
  change(name: Name, values?: Values): number;
}

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

export interface Table<Row> {
  readonly row?: Row;
}

export function table<Row>(): Table<Row> {
  return {};
}

/** The rows of tables by name, as kysely needs them. */
export type RowsOf<Tables> = { [Name in keyof Tables]: Tables[Name] extends Table<infer Row> ? Row : never };

/** Columns of a row, for a statement that skips rows with a null in them. */
export type Full<Row, Column extends keyof Row> = { [Name in Column]: NonNullable<Row[Name]> };
