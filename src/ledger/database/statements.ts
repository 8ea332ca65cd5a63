import type Database from "better-sqlite3";
import type { Sqlite } from "./database.ts";

type Makers = Readonly<Record<string, () => unknown>>;
export type Statements<M extends Makers> = { readonly [Name in keyof M]: ReturnType<M[Name]> };

/** Write `id = +?`, not `id = ?`: for a bare parameter SQLite plans the statement again for each new value. */
export const statements = {
  /** Prepares each statement on first use: a command needs few, and preparing all takes longer than most commands. */
  onUse: <M extends Makers>(makers: M): Statements<M> => {
    const prepared: Partial<Statements<M>> = {};
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
    return prepared as Statements<M>;
  },
};

interface Text<Parameters, Row> {
  readonly text: string;
  readonly isColumn: boolean;
  readonly as?: [Parameters, Row];
}

type StatementOf<T> = T extends Text<infer P, infer R> ? Database.Statement<P extends unknown[] ? P : never, R> : never;

function tag(isColumn: boolean) {
  return <Parameters extends unknown[] = unknown[], Row = unknown>(
    parts: TemplateStringsArray,
    ...values: readonly (string | number)[]
  ): Text<Parameters, Row> => ({ text: String.raw({ raw: parts }, ...values), isColumn });
}

/** The text of a statement, with the types of its parameters and rows. */
export const sql = tag(false);
/** Of a statement with one column: a row is its value. */
export const column = tag(true);

export function prepared<Texts extends Readonly<Record<string, Text<unknown[], unknown>>>>(
  database: Sqlite,
  texts: Texts,
): { readonly [Name in keyof Texts]: StatementOf<Texts[Name]> } {
  const makers = Object.entries(texts).map(([name, { text, isColumn }]) => {
    const make = (): Database.Statement => (isColumn ? database.prepare(text).pluck() : database.prepare(text));
    return [name, make] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the texts say the types
  return statements.onUse(Object.fromEntries(makers)) as { readonly [Name in keyof Texts]: StatementOf<Texts[Name]> };
}

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
