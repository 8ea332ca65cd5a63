/** The databases whose SQL is spoken; MariaDB is one of `mysql`. */
export const dialectNames = ["postgres", "mysql", "sqlite"] as const;
export type DialectName = (typeof dialectNames)[number];

/** What is wrong with a query before any database has seen it. */
interface StatementFault {
  /** Line of the query, from 1. */
  line: number;
  message: string;
}

/** Texts, quoted names and comments. */
const quoted = String.raw`'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*"|${"`[^`]*`"}|\$(\w*)\$[^]*?\$\1\$|--[^\n]*|\/\*[^]*?\*\/`;

/** The query with blanks for its texts, quoted names and comments; everything else stays where it is. */
function bare(query: string, dialect: DialectName): string {
  const pattern = new RegExp(dialect === "mysql" ? `${quoted}|#[^\\n]*` : quoted, "gu");
  return query.replaceAll(pattern, (found) => found.replaceAll(/[^\n]/gu, " "));
}

/**
 * What keeps a query from being run: it is empty, several statements, one that does not read, or keeps rows from others.
 * Whatever else writes is refused by the session, which may only read.
 */
export function statementFault(query: string, dialect: DialectName): StatementFault | undefined {
  const text = bare(query, dialect).replace(/[;\s]+$/u, "");
  const at = (index: number, message: string): StatementFault => ({
    line: text.slice(0, index).split("\n").length,
    message,
  });
  const begin = text.search(/[^\s(]/u);
  if (begin < 0) return { line: 1, message: "is empty; expected a query" };
  const [first = "something else"] = /^\p{L}+/u.exec(text.slice(begin)) ?? [];
  if (!/^(?:select|with|values|table)$/iu.test(first))
    return at(begin, `begins with ${first}; expected a query that only reads: select … or with …`);
  const end = text.indexOf(";");
  if (end >= 0) return at(end, "holds several statements; expected a single query");
  const locks = text.search(/\bfor\s+(?:update|share|no\s+key|key)\b|\block\s+in\s+share\s+mode\b/iu);
  return locks < 0 ? undefined : at(locks, "keeps rows from others; expected a query that only reads");
}

/** The query without the semicolon that may end it; its lines stay where they are. */
export function withoutSemicolon(query: string, dialect: DialectName): string {
  const text = bare(query, dialect);
  const end = text.search(/[;\s]*$/u);
  return query.replaceAll(";", (sign, at: number) => (at >= end && text[at] === ";" ? " " : sign));
}
