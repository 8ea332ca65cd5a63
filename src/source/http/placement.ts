import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { parsePath, pathOf, valueAt } from "../mapping/path.ts";
import { sourceProblem } from "../problems.ts";

/** A value that a request carries. In a body the parameter is a path, elsewhere a name. */
export interface Placement {
  in: "query" | "header" | "body";
  parameter: string;
  value: Json;
  /** Takes the place of a text with `{value}` too, which may have such a place of its own. */
  whole?: boolean;
  /** It is a list of texts that go into a text, each in single quotes; how a quote inside one is written. */
  quoted?: Quoting | undefined;
}

/** How a quote inside quotes is written. */
type Quoting = "backslash" | "doubled";

/** A request before it is sent. */
export interface Draft {
  url: URL;
  headers: Record<string, string>;
  body: Json | undefined;
  bodyAs?: BodyForm | undefined;
}

/** How a body is written. */
export type BodyForm = "json" | "form" | "xml";

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
  for (const { in: where, parameter, value, whole = false, quoted } of placements) {
    const inside = (old: Json | undefined, one: Json): Json => {
      if (quoted !== undefined && typeof old === "string")
        return old.replaceAll(placeholder, () => quotedTexts([one].flat(), quoted, placed.url, who));
      return whole ? one : insideText(old, one, placed.url, who);
    };
    if (where === "query") {
      const old = placed.url.searchParams.get(parameter) ?? undefined;
      placed.url.searchParams.set(parameter, textOf(inside(old, value)));
    } else if (where === "header") {
      const name = parameter.toLowerCase();
      placed.headers[name] = headerText(textOf(inside(placed.headers[name], value)), parameter, placed.url, who);
    } else if (placed.bodyAs === "xml") {
      const text = xmlText(textOf(value), parameter, placed.url, who);
      if (typeof placed.body === "string") placed.body = placed.body.replaceAll(`{${parameter}}`, () => text);
    } else {
      const path = parsePath(parameter);
      if (path.ok) placed.body = set(placed.body, path.value.steps, (old) => inside(old, value));
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

/** Texts as a list inside a text of somebody else's language. Throws a Problem for one that could end it. */
function quotedTexts(values: readonly Json[], quoting: Quoting, url: URL, who: string): string {
  const texts = values.map(textOf);
  const isUnsafe = (text: string): boolean =>
    /\p{Cc}/u.test(text) ||
    !text.isWellFormed() ||
    text.includes(placeholder) ||
    (quoting === "doubled" && text.includes("\\"));
  if (!texts.some(isUnsafe))
    return texts
      .map((text) => (quoting === "doubled" ? text.replaceAll("'", "''") : text.replaceAll(/[\\']/gu, "\\$&")))
      .map((text) => `'${text}'`)
      .join(",");
  throw sourceProblem(
    "source.wrong-shape",
    `${url.origin}${url.pathname}`,
    `The request to the ${who} would hold a value with a character that could end the quotes around it.`,
    "Correct the record that it comes from, or put a field there that holds letters and digits only.",
  );
}

const xmlMarks: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  // Another parameter takes no place inside a value.
  "{": "&#123;",
  "}": "&#125;",
};

/** A value as the text of an element or an attribute. */
function xmlText(text: string, name: string, url: URL, who: string): string {
  // A line end inside an attribute would be read as a blank; the rest are characters that XML does not have.
  // oxlint-disable-next-line no-control-regex
  if (text.isWellFormed() && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/u.test(text))
    return text.replaceAll(/[&<>"'{}]/gu, (mark) => xmlMarks[mark] ?? "").replaceAll(/[\t\n\r]/gu, numbered);
  throw sourceProblem(
    "source.wrong-shape",
    `${url.origin}${url.pathname}`,
    `The ${who} is to be asked with a value of {${name}} that holds a character which XML does not have.`,
    "Correct the record that it comes from, or put another field there.",
  );
}

function numbered(character: string): string {
  return `&#${character.codePointAt(0)};`;
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
