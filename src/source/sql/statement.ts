/** The databases whose SQL is spoken. */
export const dialectNames = ["postgres", "sqlite"] as const;
export type DialectName = (typeof dialectNames)[number];

/** What is wrong with a query before any database has seen it. */
interface StatementFault {
  /** Line of the query, from 1. */
  line: number;
  message: string;
}

/** Texts, quoted names and comments, as each dialect writes them. */
const quoted: Readonly<Record<DialectName, RegExp>> = {
  postgres:
    /(?<![\w$])e'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<![\w$])\$(\w*)\$[^]*?\$\1\$|--[^\n\r]*|\/\*[^]*?(?:\*\/|$)/giu,
  sqlite: /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)/gu,
};

/** The query with blanks for its texts, quoted names and comments; everything else stays where it is. */
function bare(query: string, dialect: DialectName): string {
  return query.replaceAll(quoted[dialect], (found) => found.replaceAll(/[^\n]/gu, " "));
}

/** What may stand behind a query. The look behind keeps a long run of blanks from being tried at each of them. */
const atEnd = /(?<![;\s])[;\s]*$/u;

/** What a query must not hold, each with what is wrong then. */
const refused: readonly (readonly [RegExp, string])[] = [
  [/;/u, "holds several statements; expected a single query"],
  [/(?<![\w$])\$\d/u, "has a placeholder, for which there is no value; expected the value itself"],
  [/\binto\b(?<!\.\s*into)/iu, "writes (into); expected a query that only reads"],
  [
    /\bfor\s+(?:update|share|no\s+key|key)\b|\block\s+in\s+share\s+mode\b/iu,
    "keeps rows from others; expected a query that only reads",
  ],
];

/**
 * What keeps a query from being run: it is empty, several statements, one that does not read, or keeps rows from others.
 * Whatever else writes is refused by the session, which may only read.
 */
export function statementFault(query: string, dialect: DialectName): StatementFault | undefined {
  const text = bare(query, dialect).replace(atEnd, "");
  const at = (index: number, message: string): StatementFault => ({
    line: text.slice(0, index).split("\n").length,
    message,
  });
  const begin = text.search(/[^\s(]/u);
  if (begin < 0) return { line: 1, message: "is empty; expected a query" };
  const [first = "something else"] = /^\p{L}+/u.exec(text.slice(begin)) ?? [];
  if (!/^(?:select|with|values|table)$/iu.test(first))
    return at(begin, `begins with ${first}; expected a query that only reads: select … or with …`);
  for (const [pattern, message] of refused) {
    const index = text.search(pattern);
    if (index >= 0) return at(index, message);
  }
  const unpaired = unpairedBracket(text);
  return unpaired === undefined ? undefined : at(unpaired, "has a bracket without the other one of its pair");
}

/** A query with one would leave the brackets that are put around it. */
function unpairedBracket(text: string): number | undefined {
  const open: number[] = [];
  for (const { 0: sign, index } of text.matchAll(/[()]/gu)) {
    if (sign === "(") open.push(index);
    else if (open.pop() === undefined) return index;
  }
  return open[0];
}

/** The query without the semicolon that may end it; its lines stay where they are. */
export function withoutSemicolon(query: string, dialect: DialectName): string {
  const text = bare(query, dialect);
  const end = text.search(atEnd);
  return query.replaceAll(";", (sign, at: number) => (at >= end && text[at] === ";" ? " " : sign));
}
