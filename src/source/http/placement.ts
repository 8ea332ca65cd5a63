import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { parsePath, pathOf, valueAt } from "../mapping/path.ts";
import { sourceProblem } from "../problems.ts";

/** A value in a request. For a body, `parameter` is a path. */
export interface Placement {
  in: "query" | "header" | "body";
  parameter: string;
  value: Json;
  /** Replaces a whole text, even one with `{value}` in it. */
  whole?: boolean;
}

export interface Draft {
  url: URL;
  headers: Record<string, string>;
  body: Json | undefined;
  bodyAs?: BodyForm | undefined;
}

export type BodyForm = "json" | "form";

export const largestPosition = 1_000;
const placeholder = "{value}";

/** Characters that are safe inside quotes, for example in a query language. They cannot end the text around them. */
const harmless = /^[\p{L}\p{N} _.:+@/=-]*$/u;

/** One word in any query language. Without quotes, blanks and signs would be syntax. */
const oneWord = /^[\p{L}\p{N}_.:+-]*$/u;

function standsQuoted(text: string): boolean {
  const before = text.split(placeholder).slice(0, -1);
  return before.every((_, index) => {
    const start = before.slice(0, index + 1).join("");
    return [`'`, `"`].some((quote) => start.split(quote).length % 2 === 0);
  });
}

export function isOneWord(text: string): boolean {
  return oneWord.test(text);
}

/** A value replaces `{value}` in an existing text. Throws a Problem if it is unsafe there. */
export function withPlacements(draft: Draft, placements: readonly Placement[], who: string): Draft {
  const placed: Draft = {
    url: new URL(draft.url),
    headers: { ...draft.headers },
    body: structuredClone(draft.body),
    bodyAs: draft.bodyAs,
  };
  for (const { in: where, parameter, value, whole = false } of placements) {
    const inside = (old: Json | undefined): Json => (whole ? value : insideText(old, value, placed.url, who));
    if (where === "query") {
      const old = placed.url.searchParams.get(parameter) ?? undefined;
      placed.url.searchParams.set(parameter, textOf(inside(old)));
    } else if (where === "header") {
      const name = parameter.toLowerCase();
      placed.headers[name] = headerText(textOf(inside(placed.headers[name])), parameter, placed.url, who);
    } else {
      const path = parsePath(parameter);
      if (path.ok) placed.body = set(placed.body, path.value.steps, inside);
    }
  }
  return placed;
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function insideText(old: Json | undefined, value: Json, url: URL, who: string): Json {
  if (typeof old !== "string" || !old.includes(placeholder) || old === placeholder) return value;
  const text = textOf(value);
  const mayStand = standsQuoted(old) ? harmless : oneWord;
  if (mayStand.test(text)) return old.replaceAll(placeholder, text);
  throw sourceProblem(
    "source.wrong-shape",
    `${url.origin}${url.pathname}`,
    `The request to the ${who} would hold a value with quotes or other marks, which could end the text around it.`,
    "Page by a field that holds letters and digits only, or give the value a parameter of its own.",
  );
}

function headerText(text: string, name: string, url: URL, who: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]*$/u.test(text)) return text;
  throw sourceProblem(
    "source.wrong-shape",
    `${url.origin}${url.pathname}`,
    `The request to the ${who} would have a header ${name} with a line end, or another character that no header can hold.`,
    "Put the value into the query or the body.",
  );
}

function set(
  whole: Json | undefined,
  [step, ...rest]: readonly (string | number)[],
  change: (old: Json | undefined) => Json,
): Json {
  if (step === undefined) return change(whole);
  if (typeof step === "number") {
    const list: Json[] = Array.isArray(whole) ? whole : [];
    while (list.length < Math.min(step, largestPosition)) list.push(null);
    list[Math.min(step, largestPosition)] = set(list[step], rest, change);
    return list;
  }
  const object: JsonObject = isJsonObject(whole) ? whole : {};
  const value = set(Object.hasOwn(object, step) ? object[step] : undefined, rest, change);
  Object.defineProperty(object, step, { value, enumerable: true, configurable: true, writable: true });
  return object;
}

export function valueIn(document: Json, path: string): Json | undefined {
  return valueAt({ item: document, parent: undefined }, pathOf(path));
}
