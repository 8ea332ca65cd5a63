/** The databases whose SQL is spoken; MariaDB is one of `mysql`. */
export const dialectNames = ["postgres", "mysql", "sqlite"] as const;
export type DialectName = (typeof dialectNames)[number];

/** What is wrong with a query before any database has seen it. */
interface StatementFault {
  /** Line of the query, from 1. */
  line: number;
  message: string;
}

interface Token {
  /** A word in lower case, or a single sign; a quoted name is `"`, a text `'`. */
  text: string;
  line: number;
  /** How many brackets are open before it. */
  depth: number;
  start: number;
  end: number;
}

const reading = new Set(["select", "with", "values", "table"]);
const writing = new Set(["insert", "update", "delete", "merge", "replace"]);

/**
 * What keeps a query from being run: it is empty, several statements, one that writes or keeps rows from others, or has
 * a placeholder. It looks at words alone; what hides behind a function is refused by the session, which may only read.
 */
export function statementFault(query: string, dialect: DialectName): StatementFault | undefined {
  const tokens = tokensOf(query, dialect);
  const all = withoutEnd(tokens);
  const first = all.find(({ text }) => text !== "(");
  if (first === undefined) return { line: 1, message: "is empty; expected a query" };
  const found = (token: Token, message: string): StatementFault => ({ line: token.line, message });
  if (!reading.has(first.text))
    return found(first, `begins with ${shown(first)}; expected a query that only reads: select … or with …`);
  for (const [index, token] of all.entries()) {
    const before = all[index - 1]?.text ?? "";
    const after = all[index + 1]?.text ?? "";
    if (token.text === ";") return found(token, "holds several statements; expected a single query");
    if (token.text === "/*!") return found(token, "has a comment that the database executes; expected none");
    if (token.text === "?" || token.text === "$n")
      return found(token, "has a placeholder, for which there is no value; expected the value itself");
    if (token.depth < 0) return found(token, "closes a bracket that was not opened");
    if (before === ".") continue;
    if (writing.has(token.text) && after !== "(" && (before === "(" || before === ")"))
      return found(token, `writes (${token.text}); expected a query that only reads`);
    if (token.text === "into") return found(token, "writes (into); expected a query that only reads");
    if (token.text === "for" && /^(?:update|share|no|key)$/u.test(after) && dialect !== "sqlite")
      return found(token, `keeps rows from others (for ${after}); expected a query that only reads`);
    if (token.text === "share" && before === "in")
      return found(token, "keeps rows from others (in share mode); expected a query that only reads");
  }
  const depth = all.reduce((sum, { text }) => sum + (text === "(" ? 1 : text === ")" ? -1 : 0), 0);
  return depth === 0 ? undefined : { line: first.line, message: "has brackets that are not closed" };
}

/** The query without the semicolon that may end it; its lines stay where they are. */
export function withoutSemicolon(query: string, dialect: DialectName): string {
  const tokens = tokensOf(query, dialect);
  const last = withoutEnd(tokens).at(-1);
  return tokens
    .filter(({ text, start }) => text === ";" && start >= (last?.end ?? 0))
    .reduceRight((text, { start, end }) => `${text.slice(0, start)} ${text.slice(end)}`, query);
}

function withoutEnd(tokens: readonly Token[]): Token[] {
  const last = tokens.findLastIndex(({ text }) => text !== ";");
  return tokens.slice(0, last + 1);
}

function shown({ text }: Token): string {
  return /^[\p{L}_]+$/u.test(text) ? text : "something else";
}

/** How each dialect writes what is no word: texts, quoted names, comments. */
function patternOf(dialect: DialectName): RegExp {
  const mysql = dialect === "mysql";
  const bracketed = {
    sqlite: String.raw`|\[[^\]]*\]`,
    postgres: "",
    mysql: "",
  };
  const parts = [
    String.raw`(?<space>\s+|--[^\n]*${mysql ? String.raw`|#[^\n]*` : ""}|\/\*(?!M?!)[^]*?(?:\*\/|$))`,
    String.raw`(?<executed>\/\*M?!)`,
    mysql
      ? String.raw`(?<text>'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*")`
      : String.raw`(?<text>(?<![\w$])[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*')`,
    ...(dialect === "postgres" ? [String.raw`(?<dollar>(?<tag>\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$)[^]*?\k<tag>)`] : []),
    ...(dialect === "postgres" ? [String.raw`(?<place>\$\d+)`] : []),
    ...(mysql || dialect === "sqlite" ? [String.raw`(?<place>\?\d*)`] : []),
    String.raw`(?<name>"(?:[^"]|"")*"|${"`(?:[^`]|``)*`"}${bracketed[dialect]})`,
    String.raw`(?<word>[\p{L}_][\p{L}\p{N}_$]*)`,
    String.raw`(?<number>\d[\p{L}\p{N}_.]*)`,
    String.raw`(?<sign>[^])`,
  ];
  return new RegExp(parts.join("|"), "gu");
}

function tokensOf(query: string, dialect: DialectName): Token[] {
  const found: Token[] = [];
  let depth = 0;
  let line = 1;
  for (const match of query.matchAll(patternOf(dialect))) {
    const [whole] = match;
    const text = tokenText(match);
    if (text === ")") depth -= 1;
    if (text !== undefined) found.push({ text, line, depth, start: match.index, end: match.index + whole.length });
    if (text === "(") depth += 1;
    line += whole.split("\n").length - 1;
  }
  return found;
}

/** Undefined for what stands between words. */
function tokenText({ 0: whole, groups = {} }: RegExpMatchArray): string | undefined {
  if (groups["space"] !== undefined) return undefined;
  if (groups["executed"] !== undefined) return "/*!";
  if (groups["text"] !== undefined || groups["dollar"] !== undefined) return "'";
  if (groups["name"] !== undefined) return '"';
  if (groups["place"] !== undefined) return whole.startsWith("$") ? "$n" : "?";
  return groups["word"] === undefined ? whole : whole.toLowerCase();
}
