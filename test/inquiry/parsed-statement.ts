/**
 * What a statement of ours says of columns: which queries it holds, one inside the other, what each reads from, and
 * which names stand in it without saying whose they are. It knows as much of SQL as the statements of the ledger need.
 */

/** Columns by the alias or the name under which a query reads them. */
type From = Map<string, { table: string; columns: ReadonlySet<string> }>;

/** A `select` of a statement, or its `update`, `insert` or `delete`. */
export interface Query {
  from: From;
  /** The query whose row this one is asked for; undefined where none is. */
  parent: Query | undefined;
  /** It stands behind `exists`. */
  isExists: boolean;
  tokens: readonly Token[];
  inner: Query[];
}

export interface Token {
  text: string;
  kind: "name" | "text" | "number" | "parameter" | "sign";
}

type Columns = (table: string) => ReadonlySet<string> | undefined;

const lexeme = new RegExp(
  [
    /(?<text>'(?:[^']|'')*')/,
    /(?<parameter>[@:$][a-z]\w*|\?)/,
    /(?<number>\d+(?:\.\d+)?)/,
    /"(?<quoted>[^"]+)"/,
    /(?<name>[a-z_]\w*)/,
    /(?<sign>->>|->|\|\||<>|<=|>=|[^\s])/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "giu",
);

const words = new Set("from where group order limit set having join union select values with".split(" "));

function tokensOf(sql: string): Token[] {
  return [...sql.matchAll(lexeme)].map(({ groups = {} }): Token => {
    const { text, parameter, number, quoted, name, sign } = groups;
    if (text !== undefined) return { text, kind: "text" };
    if (parameter !== undefined) return { text: parameter, kind: "parameter" };
    if (number !== undefined) return { text: number, kind: "number" };
    // A name in quotes is no word of SQL.
    const word = quoted !== undefined && words.has(quoted) ? `"${quoted}"` : (quoted ?? name);
    return word === undefined ? { text: sign ?? "", kind: "sign" } : { text: word.toLowerCase(), kind: "name" };
  });
}

/** The place behind the bracket that closes the one at `open`. */
function behind(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let place = open; place < tokens.length; place += 1) {
    if (tokens[place]?.text === "(") depth += 1;
    if (tokens[place]?.text === ")" && --depth === 0) return place + 1;
  }
  return tokens.length;
}

/** The places of what stands in no bracket and fits. */
function outermost(tokens: readonly Token[], fits: (token: Token) => boolean): number[] {
  const places: number[] = [];
  for (let place = 0; place < tokens.length; place += 1) {
    const token = tokens[place];
    if (token?.text === "(") place = behind(tokens, place) - 1;
    else if (token !== undefined && fits(token)) places.push(place);
  }
  return places;
}

const is =
  (...words: string[]) =>
  ({ text }: Token): boolean =>
    words.includes(text);

const jsonEach = new Set(["key", "value", "type", "atom", "id", "parent", "fullkey", "path"]);
const noAlias = new Set(
  "on using indexed not left cross inner outer join where set group order limit values select".split(" "),
);

/** The queries of a statement, the outermost ones; `columns` gives those of a table of the database. */
export function queriesOf(sql: string, columns: Columns): Query[] {
  return compound(tokensOf(sql), undefined, columns, false);
}

/** Queries that follow each other, as the parts of a union do, with what `with` names before them. */
function compound(tokens: readonly Token[], parent: Query | undefined, columns: Columns, isExists: boolean): Query[] {
  if (tokens[0]?.text === "with") return withNamed(tokens, parent, columns, isExists);
  const ends = [...outermost(tokens, is("union", "except", "intersect")), tokens.length];
  return ends.flatMap((end, index) => {
    const start = index === 0 ? 0 : (ends[index - 1] ?? 0) + 1;
    const part = tokens.slice(tokens[start]?.text === "all" ? start + 1 : start, end);
    return one(part, parent, columns, isExists);
  });
}

function withNamed(tokens: readonly Token[], parent: Query | undefined, columns: Columns, isExists: boolean): Query[] {
  const named = new Map<string, ReadonlySet<string>>();
  const known: Columns = (table) => named.get(table) ?? columns(table);
  const found: Query[] = [];
  let place = tokens[1]?.text === "recursive" ? 2 : 1;
  for (;;) {
    const name = tokens[place]?.text ?? "";
    place += 1;
    let own: string[] | undefined;
    if (tokens[place]?.text === "(") {
      const end = behind(tokens, place);
      own = tokens.slice(place + 1, end - 1).flatMap(({ text, kind }) => (kind === "name" ? [text] : []));
      place = end;
    }
    const open = place + 1;
    const end = behind(tokens, open);
    const body = tokens.slice(open + 1, end - 1);
    named.set(name, new Set(own ?? givenBy(body, known)));
    found.push(...compound(body, parent, known, false));
    place = end;
    if (tokens[place]?.text !== ",") break;
    place += 1;
  }
  return [...found, ...compound(tokens.slice(place), parent, known, isExists)];
}

/** The names of what a query gives: of the first part of a union. */
function givenBy(tokens: readonly Token[], columns: Columns): string[] {
  const [end = tokens.length] = outermost(tokens, is("from", "union"));
  const list = tokens.slice(1, end);
  const commas = [...outermost(list, is(",")), list.length];
  return commas.flatMap((comma, index) => {
    const item = list.slice(index === 0 ? 0 : (commas[index - 1] ?? 0) + 1, comma);
    const last = item.at(-1);
    if (last?.text === "*") return [...fromOf(tokens, columns).values()].flatMap((source) => [...source.columns]);
    return last?.kind === "name" ? [last.text] : [];
  });
}

function one(tokens: readonly Token[], parent: Query | undefined, columns: Columns, isExists: boolean): Query[] {
  const [first] = tokens;
  if (first === undefined) return [];
  if (first.text !== "insert") {
    const query: Query = { from: fromOf(tokens, columns), parent, isExists, tokens, inner: [] };
    inside(query, columns);
    return [query];
  }
  // What is selected into a table knows nothing of the rows that it meets there.
  const [select = tokens.length] = outermost(tokens, is("select", "values"));
  const [conflict = tokens.length] = outermost(tokens, is("conflict"));
  const table = tokens[outermost(tokens, is("into"))[0] ?? 0]?.text === "into" ? (tokens[2]?.text ?? "") : "";
  const own = columns(table) ?? new Set<string>();
  const met: Query = {
    from: new Map([
      [table, { table, columns: own }],
      ["excluded", { table, columns: own }],
    ]),
    parent,
    isExists,
    tokens: tokens.slice(conflict),
    inner: [],
  };
  inside(met, columns);
  return [met, ...compound(tokens.slice(select, Math.max(select, conflict - 1)), undefined, columns, false)];
}

/** What a query reads from, by alias. */
function fromOf(tokens: readonly Token[], columns: Columns): From {
  const from: From = new Map();
  const [first] = tokens;
  const [start] = first?.text === "update" ? [0] : outermost(tokens, is("from"));
  if (start === undefined) return from;
  const [end = tokens.length] = outermost(tokens, is("where", "group", "order", "limit", "set", "having"));
  const list = tokens.slice(start + 1, Math.max(start + 1, end));
  const add = (place: number): void => {
    let next = place + 1;
    let table = list[place]?.text ?? "";
    let own = columns(table);
    if (table === "(") {
      next = behind(list, place);
      table = "";
      own = new Set(givenBy(list.slice(place + 1, next - 1), columns));
    } else if (list[next]?.text === "(") {
      next = behind(list, next);
      own = jsonEach;
    }
    if (list[next]?.text === "as") next += 1;
    const alias = list[next];
    const name = alias?.kind === "name" && !noAlias.has(alias.text) ? alias.text : table;
    from.set(name, { table, columns: own ?? new Set() });
  };
  add(0);
  for (const place of outermost(list, is(",", "join"))) add(place + 1);
  return from;
}

/** The queries that stand in brackets inside another one. */
function inside(query: Query, columns: Columns): void {
  const { tokens } = query;
  for (let place = 0; place < tokens.length; place += 1) {
    const next = tokens[place + 1]?.text;
    if (tokens[place]?.text !== "(" || (next !== "select" && next !== "with")) continue;
    const before = tokens[place - 1]?.text ?? "";
    const end = behind(tokens, place);
    // What is read from cannot ask for the row that is read.
    const parent = ["from", "join", ","].includes(before) && isRead(tokens, place) ? query.parent : query;
    query.inner.push(...compound(tokens.slice(place + 1, end - 1), parent, columns, before === "exists"));
    place = end - 1;
  }
}

function isRead(tokens: readonly Token[], place: number): boolean {
  const [from] = outermost(tokens, is("from"));
  const [end = tokens.length] = outermost(tokens, is("where", "group", "order", "limit"));
  return from !== undefined && place > from && place < end;
}

/** A query and all that stand in it. */
export function withInner(query: Query): Query[] {
  return [query, ...query.inner.flatMap(withInner)];
}

/** The tokens of a query without those of the queries that stand in it. */
export function ownTokens({ tokens }: Query): Token[] {
  const own: Token[] = [];
  for (let place = 0; place < tokens.length; place += 1) {
    const token = tokens[place];
    const next = tokens[place + 1]?.text;
    if (token?.text === "(" && (next === "select" || next === "with")) place = behind(tokens, place) - 1;
    else if (token !== undefined) own.push(token);
  }
  return own;
}
