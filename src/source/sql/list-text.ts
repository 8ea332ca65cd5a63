import type { Json } from "../../base/canonical-json.ts";

/**
 * The list that PostgreSQL writes as `{a,"b c",NULL,{d}}`; undefined for a text that is none. Its elements are read by
 * `read`.
 */
export function listText(text: string, read: (element: string) => Json): Json[] | undefined {
  // A list whose positions do not begin at 1 says so in front: `[0:1]={a,b}`.
  const found = elements(text, /^(?:\[-?\d+:-?\d+\])+=/u.exec(text)?.[0].length ?? 0, read);
  return found?.end === text.length ? found.list : undefined;
}

const quoted = /"((?:[^"\\]|\\[^])*)"/uy;
const plain = /[^,{}"\\]+/uy;

function elements(
  text: string,
  start: number,
  read: (element: string) => Json,
): { list: Json[]; end: number } | undefined {
  if (text[start] !== "{") return undefined;
  const list: Json[] = [];
  let at = start + 1;
  if (text[at] === "}") return { list, end: at + 1 };
  for (;;) {
    if (text[at] === "{") {
      const inner = elements(text, at, read);
      if (inner === undefined) return undefined;
      list.push(inner.list);
      at = inner.end;
    } else {
      const pattern = text[at] === '"' ? quoted : plain;
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match === null) return undefined;
      const [whole, inside] = match;
      if (inside !== undefined) list.push(read(inside.replaceAll(/\\([^])/gu, "$1")));
      else list.push(whole === "NULL" ? null : read(whole));
      at += whole.length;
    }
    if (text[at] === "}") return { list, end: at + 1 };
    if (text[at] !== ",") return undefined;
    at += 1;
  }
}
