import type { SourceFile } from "./rules.ts";

const columns = 120;
const lines = 60;

/** A function of a file, by the lines where it begins and ends, counted from 1. */
interface FunctionFound {
  from: number;
  to: number;
  reason: string | undefined;
}

const declared = /^\s*(?:export )?(?:default )?(?:async )?function\b/u;
const method =
  /^\s+(?:(?:static|async|override|get|set) )*\*?#?(?!(?:if|for|while|switch|catch|return)\b)[\w$]+(?:<.*>)?\(/u;
const arrow = /=> \{$/u;

/** Functions, methods and arrow functions with a body, by the indents that the formatter gives. */
export function functionsOf(text: string): FunctionFound[] {
  const all = text.split("\n");
  const indentOf = (line: string): number => line.search(/\S|$/u);
  return all.flatMap((line, index): FunctionFound[] => {
    if (!declared.test(line) && !method.test(line) && !arrow.test(line)) return [];
    const indent = indentOf(line);
    for (let at = index + 1; at < all.length; at += 1) {
      const next = all[at] ?? "";
      if (next.trim() === "" || indentOf(next) > indent) continue;
      const rest = next.slice(indentOf(next));
      if (indentOf(next) === indent && /^[)}\]].*\{$/u.test(rest)) continue;
      const ends = indentOf(next) === indent && (arrow.test(line) ? rest.startsWith("}") : /^\}[,;]?$/u.test(rest));
      return ends ? [{ from: index + 1, to: at + 1, reason: reasonAbove(all, index) }] : [];
    }
    return [];
  });
}

/** What the comment above a function says after `In one piece:`. */
function reasonAbove(all: readonly string[], index: number): string | undefined {
  const comment: string[] = [];
  for (let at = index - 1; at >= 0 && /^\s*(?:\/\*\*|\*|\/\/)/u.test(all[at] ?? ""); at -= 1)
    comment.unshift(all[at] ?? "");
  return /In one piece: (\S[^]*)/u.exec(comment.join(" "))?.[1];
}

/** Code beyond 120 columns and functions beyond 60 lines without a reason. */
export function tooLong(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => /^(?:src|demo|bench|scripts|migrations)\//u.test(path))
    .flatMap(({ path, text }) => [
      ...text
        .split("\n")
        .flatMap((line, index) =>
          line.length > columns && !line.includes("oxlint-disable")
            ? [`${path}:${index + 1}: ${line.length} columns`]
            : [],
        ),
      ...functionsOf(text).flatMap(({ from, to, reason }) =>
        to - from + 1 > lines && reason === undefined
          ? [`${path}:${from}: a function of ${to - from + 1} lines; split it, or say why not ("In one piece: …")`]
          : [],
      ),
    ]);
}
