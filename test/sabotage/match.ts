import { withoutComments } from "../architecture/rules.ts";

interface Token {
  text: string;
  start: number;
  end: number;
}

/** One place where a pattern fits, and what its variables stand for there. */
export interface Match {
  start: number;
  end: number;
  names: ReadonlyMap<string, string>;
}

/**
 * Words and signs, also those within texts such as SQL; white space, comments and the comma after a last item do not
 * count.
 */
function tokensOf(text: string): Token[] {
  const tokens = [...text.matchAll(/#?[\p{L}\p{N}_$]+|\S/gu)].map(([found], index, all) => {
    const start = all[index]?.index ?? 0;
    return { text: found, start, end: start + found.length };
  });
  return tokens.filter(({ text: sign }, index) => sign !== "," || !/^[)\]}]$/u.test(tokens[index + 1]?.text ?? ""));
}

const known = new Map<string, Token[]>();

/** The tokens of a file of the program. */
function tokensOfFile(text: string): Token[] {
  const tokens = known.get(text) ?? tokensOf(withoutComments(text));
  known.set(text, tokens);
  return tokens;
}

const variable = /^\$[\p{L}_][\p{L}\p{N}_]*$/u;
const name = /^[\p{L}_][\p{L}\p{N}_$]*$/u;

function matchAt(tokens: readonly Token[], at: number, pattern: readonly Token[]): Match | undefined {
  const names = new Map<string, string>();
  for (const [index, { text: wanted }] of pattern.entries()) {
    const found = tokens[at + index];
    if (found === undefined) return undefined;
    if (!variable.test(wanted)) {
      if (found.text !== wanted) return undefined;
      continue;
    }
    const known = names.get(wanted);
    const isFree = name.test(found.text) && tokens[at + index - 1]?.text !== ".";
    if (known === undefined ? !isFree : known !== found.text) return undefined;
    names.set(wanted, found.text);
  }
  const [first, last] = [tokens[at], tokens[at + pattern.length - 1]];
  return first === undefined || last === undefined ? undefined : { start: first.start, end: last.end, names };
}

/**
 * Where a pattern stands in a part of a text. `$row` in it stands for any name of a variable, the same each time; all
 * else stands for itself.
 */
export function matchesOf(pattern: string, text: string, part = { start: 0, end: text.length }): Match[] {
  const wanted = tokensOf(pattern);
  const tokens = tokensOfFile(text).filter(({ start, end }) => start >= part.start && end <= part.end);
  return tokens.flatMap((_, at) => matchAt(tokens, at, wanted) ?? []);
}

const variables = /\$[\p{L}_][\p{L}\p{N}_]*/gu;

/** A replacement with the names that the pattern's variables stand for. */
export function filled(replacement: string, names: ReadonlyMap<string, string>): string {
  return replacement.replaceAll(variables, (found) => names.get(found) ?? found);
}

/** Variables of a replacement that its pattern does not have: in a program they would stand for nothing. */
export function unknownIn(replacement: string, pattern: string): string[] {
  const known = new Set(pattern.match(variables));
  return (replacement.match(variables) ?? []).filter((found) => !known.has(found));
}
