import { parseSync, Visitor, type Expression } from "oxc-parser";

/** A paragraph, a cell of a table or a text that the program prints. */
export interface Text {
  /** Counted from 1. */
  line: number;
  text: string;
}

const leastWordsOfMessage = 5;
const leastWordsOfCell = 6;

export function wordsOf(text: string): number {
  return text.split(/\s+/u).filter((word) => /\w/u.test(word)).length;
}

/** Paragraphs, items of lists and cells of a page in Markdown; code becomes the word CODE. */
export function textsOfPage(page: string): Text[] {
  const texts: Text[] = [];
  let open: Text | undefined;
  let isCode = false;
  for (const [index, written] of page.split("\n").entries()) {
    const isFence = /^\s*(```|~~~)/u.test(written);
    if (isFence) isCode = !isCode;
    const isOutside = isFence || isCode || written.trim() === "" || /^\s*(#|<!--|!\[|\|)/u.test(written);
    if (isOutside || /^\s*([-*]|\d+\.)\s/u.test(written)) open = undefined;
    const line = written
      .replace(/^\s*([-*]|\d+\.)\s+/u, "")
      .replaceAll(/`[^`]*`/gu, "CODE")
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, "$1")
      .replaceAll(/\*{1,2}/gu, "");
    if (/^\s*\|/u.test(written) && !isCode)
      for (const cell of line.split("|"))
        if (wordsOf(cell) >= leastWordsOfCell) texts.push({ line: index + 1, text: cell.trim() });
    if (isOutside) continue;
    if (open === undefined) texts.push((open = { line: index + 1, text: line.trim() }));
    else open.text += ` ${line.trim()}`;
  }
  return texts;
}

/** Sentences in the texts of a source file, whether they are joined of parts or not; a value in one becomes X. */
export function textsOfSource(path: string, source: string): Text[] {
  const texts: Text[] = [];
  const seen = new Set<number>();
  const take = (node: Expression): void => {
    if (seen.has(node.start)) return;
    const text = joined(node, seen)
      ?.replaceAll(/`[^`]*`/gu, "CODE")
      .replaceAll(/<[^>]*>/gu, " ")
      .trim();
    if (text === undefined || wordsOf(text) < leastWordsOfMessage || !isProse(text)) return;
    texts.push({ line: source.slice(0, node.start).split("\n").length, text });
  };
  new Visitor({
    TaggedTemplateExpression(node) {
      if (node.tag.type === "Identifier" && node.tag.name === "sql") seen.add(node.quasi.start);
    },
    BinaryExpression: (node) => take(node),
    Literal: (node) => take(node),
    TemplateLiteral: (node) => take(node),
  }).visit(parseSync(path, source).program);
  return texts;
}

/** The text that an expression makes; undefined for one that makes none. */
function joined(node: Expression, seen: Set<number>): string | undefined {
  if (node.type === "Literal") {
    if (typeof node.value !== "string") return undefined;
    seen.add(node.start);
    return node.value;
  }
  if (node.type === "TemplateLiteral") {
    seen.add(node.start);
    return node.quasis.map(({ value }) => value.cooked ?? "").join("X");
  }
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  const parts = [joined(node.left, seen), joined(node.right, seen)];
  if (parts.every((part) => part === undefined)) return undefined;
  return parts.map((part) => part ?? "X").join("");
}

function isProse(text: string): boolean {
  return (
    /^[A-Z0-9a-z$"'(]/u.test(text) &&
    !/\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|CREATE|VALUES|select|insert into|order by|update \w+ set|where \w+ =)\b/u.test(
      text,
    ) &&
    !/[{};]\s*$|=>/u.test(text)
  );
}
