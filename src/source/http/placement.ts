import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { parsePath, pathOf, valueAt } from "../mapping/path.ts";
import { sourceProblem } from "../problems.ts";

/** A value that a request carries. In a body the parameter is a path, elsewhere a name. */
export interface Placement {
  in: "query" | "header" | "body";
  parameter: string;
  value: Json;
  /** Takes the place of a text with `{value}` too, which may have such a place of its own. */
  whole?: boolean;
}

/** A request before it is sent. */
export interface Draft {
  url: URL;
  headers: Record<string, string>;
  body: Json | undefined;
  bodyAs?: BodyForm | undefined;
}

/** How a body is written. */
export type BodyForm = "json" | "form";

/** Positions in a list beyond this are taken for a mistake. */
export const largestPosition = 1_000;
const placeholder = "{value}";

/** What is put into a text of somebody else's language, such as a query, and must not end the text around it. */
const harmless = /^[\p{L}\p{N} _.:+@/=-]*$/u;

/** What is one word in any language: where no quotes stand around it, blanks and signs would be read as its own. */
const oneWord = /^[\p{L}\p{N}_.:+-]*$/u;

/** Whether each place for a value stands between quotes. */
function standsQuoted(text: string): boolean {
  const before = text.split(placeholder).slice(0, -1);
  return before.every((_, index) => {
    const start = before.slice(0, index + 1).join("");
    return [`'`, `"`].some((quote) => start.split(quote).length % 2 === 0);
  });
}

/** Whether a text may stand in an expression without quotes around it, and means itself there alone. */
export function isOneWord(text: string): boolean {
  return oneWord.test(text);
}

/**
 * A copy of a request with values put into it. Where a text with `{value}` stands already, the value takes that place.
 * Throws a Problem for a value that cannot stand there: a line end in a header, a quote inside a text.
 */
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

/** A value with a part of it replaced; what is missing on the way is made. */
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

/** What an answer holds at a path. */
export function valueIn(document: Json, path: string): Json | undefined {
  return valueAt({ item: document, parent: undefined }, pathOf(path));
}
