import type Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { openLedger, sqlite } from "../support/world/start.ts";
import { everyStatement } from "./every-statement.ts";
import { ownTokens, queriesOf, withInner, type Query, type Token } from "./parsed-statement.ts";

type Columns = (table: string) => ReadonlySet<string> | undefined;

function columnsIn(database: Database.Database): Columns {
  const tables = database.prepare<[], string>("select name from sqlite_schema where type = 'table'").pluck().all();
  const all = new Map(
    tables.map((table) => [
      table,
      new Set(database.prepare<[string], string>("select name from pragma_table_info(?)").pluck().all(table)),
    ]),
  );
  return (table) => all.get(table);
}

function around(query: Query): Query[] {
  return query.parent === undefined ? [] : [query.parent, ...around(query.parent)];
}

function reads({ from }: Query, column: string): boolean {
  return [...from.values()].some(({ columns }) => columns.has(column));
}

/** A column as a statement names it: with whose it is, or without. */
interface Named {
  of: string | undefined;
  column: string;
  place: number;
}

const noColumn = new Set("null true false not and or is in case when then else end exists like between".split(" "));

/** The columns that a query names itself, but for names that it gives. */
function columnsOf(tokens: readonly Token[]): Named[] {
  return tokens.flatMap(({ text, kind }, place): Named[] => {
    const [before, next] = [tokens[place - 1]?.text, tokens[place + 1]?.text];
    if (kind !== "name" || next === "(" || next === "." || before === "as" || noColumn.has(text)) return [];
    const of = before === "." ? tokens[place - 2]?.text : undefined;
    return [{ of, column: text, place }];
  });
}

const signs = new Set(["=", "<>", "<", ">", "<=", ">="]);

/** Pairs that a query compares: `a.b = c.d`, `a.b = +?`, also where one stands behind `is`. */
function comparedIn(tokens: readonly Token[]): { left: Named; right: Named | undefined; sign: string }[] {
  const named = new Map(columnsOf(tokens).map((one) => [one.place, one]));
  return tokens.flatMap(({ text }, place) => {
    const left = named.get(place - 1);
    if (left === undefined || !(signs.has(text) || text === "is")) return [];
    let next = place + 1;
    while (tokens[next]?.text === "+" || tokens[next]?.text === "not") next += 1;
    if (tokens[next + 1]?.text === ".") next += 2;
    // Numbers of the pool are nobody's.
    return tokens[next]?.text === "''" ? [] : [{ left, right: named.get(next), sign: text }];
  });
}

/** Where a column is compared with one of its own row, and the row of the query around it has one of that name. */
function capturedIn(query: Query): string[] {
  const outer = around(query);
  if (outer.length === 0) return [];
  return comparedIn(ownTokens(query)).flatMap(({ left, right, sign }) => {
    if (right === undefined) return [];
    const [bare, other] = right.of === undefined ? [right, left] : [left, right];
    if (bare.of !== undefined || !reads(query, bare.column)) return [];
    if (other.of !== undefined && !query.from.has(other.of)) return [];
    if (!outer.some((one) => reads(one, bare.column))) return [];
    return [`${left.of ?? ""}.${left.column} ${sign} ${right.of ?? ""}.${right.column}`];
  });
}

/** Whether a query, or one inside it, names something of the row of the query around it. */
function asksForOuter(query: Query): boolean {
  const own = withInner(query);
  const inner = new Set(own.flatMap(({ from }) => [...from.keys()]));
  return own.some((one) =>
    columnsOf(ownTokens(one)).some(({ of, column }) =>
      of === undefined
        ? !own.some((two) => reads(two, column)) && around(query).some((two) => reads(two, column))
        : !inner.has(of),
    ),
  );
}

/** Tables of which it is asked whether they hold anything at all, whosever it is. */
const askedAsAWhole = new Set(["source_stream"]);

/** An `exists` inside a query over rows that is the same for each of them. */
function isSameForEach(query: Query): boolean {
  if (!query.isExists || !around(query).some(({ from }) => from.size > 0) || asksForOuter(query)) return false;
  const isAsked = columnsOf(ownTokens(query)).some(({ place }) => {
    const tokens = ownTokens(query);
    return tokens.slice(place).some(({ kind }) => kind === "parameter");
  });
  return !isAsked && ![...query.from.values()].every(({ table }) => askedAsAWhole.has(table));
}

/** The column that says of which namespace an id is; a row of the quarantine has an id of its own. */
function companionOf(column: string, columns: ReadonlySet<string>): string | undefined {
  if (column === "id" && columns.has("record_id")) return undefined;
  const names: Record<string, string[]> = {
    customer_id: ["customer_namespace", "namespace"],
    placed_for_id: ["placed_for_namespace"],
    id: ["namespace"],
    order_id: ["namespace"],
    staff_id: ["namespace"],
    record_id: ["namespace"],
  };
  return names[column]?.find((name) => columns.has(name));
}

/** Which table a name is of, seen from a query. */
function sourceOf(query: Query, { of, column }: Named): { name: string; columns: ReadonlySet<string> } | undefined {
  for (const one of [query, ...around(query)])
    for (const [name, { columns }] of one.from)
      if (of === undefined ? columns.has(column) : of === name) return { name, columns };
  return undefined;
}

/** Ids that are compared, and the namespaces beside them are not. */
function withoutNamespace(query: Query): string[] {
  const tokens = ownTokens(query);
  const pairs = comparedIn(tokens);
  const text = tokens.map((token) => token.text).join(" ");
  const isCompared = (name: string, companion: string): boolean =>
    columnsOf(tokens).some((one) => one.column === companion && sourceOf(query, one)?.name === name && one.place > 0);
  return pairs.flatMap(({ left, right, sign }) => {
    if (sign !== "=") return [];
    return [left, right].flatMap((side) => {
      const source = side === undefined ? undefined : sourceOf(query, side);
      if (side === undefined || source === undefined) return [];
      const companion = companionOf(side.column, source.columns);
      if (companion === undefined || isCompared(source.name, companion)) return [];
      return [`${source.name}.${side.column} without ${companion}: ${text}`];
    });
  });
}

/** Statements that mean an id in whatever namespace, and the pool, which is nobody's. */
const anyNamespace = [
  /^select "one"\."stream", "one"\."namespace"/u,
  /^select distinct "namespace", "record_id" as "id" from "quarantine"/u,
];

async function everyQuery(): Promise<{ text: string; queries: Query[] }[]> {
  const texts = await everyStatement();
  const columns = columnsIn(sqlite((await openLedger()).path));
  return texts
    .filter((text) => /^(?:select|update|insert|delete|with)\b/iu.test(text))
    .map((text) => ({ text, queries: queriesOf(text, columns).flatMap(withInner) }));
}

it(
  "no query inside another takes a name for its own that was meant for the other one's row",
  { tags: "long" },
  async () => {
    const statements = await everyQuery();
    expect(statements.length).toBeGreaterThan(300);
    const captured = statements.flatMap(({ text, queries }) =>
      queries.flatMap(capturedIn).map((name) => `${name}: ${text}`),
    );
    expect.soft(captured).toEqual([]);
    const same = statements.filter(({ queries }) => queries.some(isSameForEach)).map(({ text }) => text);
    expect.soft(same, "asked of each row, and the same for all").toEqual([]);
    const unsaid = statements
      .filter(({ text }) => !anyNamespace.some((known) => known.test(text)))
      .flatMap(({ text, queries }) => queries.flatMap(withoutNamespace).map((what) => `${what} IN ${text}`));
    expect(unsaid).toEqual([]);
  },
);

describe("what is looked for", () => {
  const tables: Record<string, string[]> = {
    record: ["stream", "namespace", "id", "source", "customer_namespace", "customer_id"],
    manual_request: ["of", "about", "customer_namespace", "customer_id"],
    source_stream: ["source", "stream"],
  };
  const queries = (text: string): Query[] =>
    queriesOf(text, (table) => (table in tables ? new Set(tables[table]) : undefined)).flatMap(withInner);

  it.each([
    `select 1 from manual_request where exists (
       select 1 from record r where r.namespace = customer_namespace and r.id = customer_id)`,
    `with due as (select * from manual_request) select 1 from due where not exists (
       select 1 from record r where r.namespace = customer_namespace and due.customer_id = r.id)`,
    `update record set source = 'x' where exists (select 1 from record r where id = r.id)`,
  ])("is found: %s", (text) => {
    expect(queries(text).flatMap(capturedIn)).not.toEqual([]);
  });

  it.each([
    `select 1 from manual_request m where exists (
       select 1 from record r where r.namespace = m.customer_namespace and r.id = m.customer_id)`,
    "select 1 from record where exists (select 1 from manual_request m where m.customer_namespace = namespace)",
    "select r.id from record r where r.customer_namespace = r.namespace and r.customer_id = id",
  ])("is not found where it is not: %s", (text) => {
    expect(queries(text).flatMap(capturedIn)).toEqual([]);
  });

  it("is an `exists` that is the same for each row, and an id without its namespace", () => {
    const isSame = (text: string): boolean => queries(text).some(isSameForEach);
    expect(isSame("select 1 from manual_request m where exists (select 1 from record r where r.stream = 'x')")).toBe(
      true,
    );
    expect(isSame("select 1 from record where not exists (select 1 from source_stream)")).toBe(false);
    expect(isSame("select 1 from manual_request m where exists (select 1 from record r where r.id = about)")).toBe(
      false,
    );
    const unsaid = (text: string): unknown[] => queries(text).flatMap(withoutNamespace);
    expect(unsaid("select 1 from record r join manual_request m on m.customer_id = r.id")).toHaveLength(2);
    expect(unsaid("select 1 from record where namespace = ? and id = ?")).toEqual([]);
  });
});
