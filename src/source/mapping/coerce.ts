import type { Json } from "../../base/canonical-json.ts";
import { refuse } from "./context.ts";
import type { MappingContext } from "./context.ts";
import { instantOf } from "./date.ts";
import { isDoubtful, marksToName } from "./marks.ts";
import type { Target } from "./target.ts";

/** Text that every store and every service can hold: no NUL, no lone surrogate. */
function cleanText(text: string, context: MappingContext): string | undefined {
  if (!text.isWellFormed()) return refuse(context, "broken-text", text, "text without broken Unicode characters");
  if (text.includes("\0")) return refuse(context, "broken-text", text, "text without NUL characters");
  return text;
}

/** Text, or a number as the source wrote it. */
export function textOf(value: Json, context: MappingContext): string | undefined {
  if (typeof value === "string") return cleanText(value, context);
  if (typeof value === "number") return String(value);
  return refuse(context, "wrong-type", value, "text");
}

/** A whole number that JavaScript holds exactly; also written as text, also as `12.0`, and not as `2.000`. */
function integerOf(value: Json, context: MappingContext): number | undefined {
  if (typeof value === "string" && isDoubtful(value))
    return refuse(
      context,
      "not-a-whole-number",
      value,
      `a whole number; for a point like this use {number: …} with ${marksToName}`,
    );
  const number = typeof value === "string" && /^[+-]?\d{1,16}(?:\.0*)?$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number === 0 ? 0 : number;
  return refuse(context, "not-a-whole-number", value, "a whole number");
}

function booleanOf(value: Json, context: MappingContext): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === "true") return true;
  if (value === "false") return false;
  return refuse(
    context,
    "not-a-boolean",
    value,
    "true or false; for other words use {boolean: …, true: […], false: […]}",
  );
}

function textsOf(value: Json, context: MappingContext): string[] | undefined {
  const texts: string[] = [];
  for (const element of Array.isArray(value) ? value : [value]) {
    if (element === null || (typeof element === "string" && context.nullTexts.has(element))) continue;
    const text = textOf(element, context);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts;
}

interface Coercion {
  takes: string;
  /** Why a value is refused: code → meaning. */
  refuses: Readonly<Record<string, string>>;
  examples: readonly { target: Target; value: Json; gives?: Json; refused?: string }[];
}

const textRefusals = {
  "wrong-type": "neither text nor a number",
  "broken-text": "text with a NUL character or half a surrogate pair",
};

/** What each kind of target field takes, for the reference; its test runs the examples. */
export const coercions: Readonly<Record<Exclude<Target["kind"], "list" | "object">, Coercion>> = {
  text: {
    takes: "text, or a number as the source writes it",
    refuses: textRefusals,
    examples: [
      { target: { kind: "text" }, value: 10248, gives: "10248" },
      { target: { kind: "text" }, value: true, refused: "wrong-type" },
    ],
  },
  word: {
    takes: "one of the words of the field, exactly",
    refuses: { "unknown-word": "none of the words; `map` puts other words for those of the source" },
    examples: [
      { target: { kind: "word", words: ["personal", "company"] }, value: "company", gives: "company" },
      { target: { kind: "word", words: ["personal", "company"] }, value: "Company", refused: "unknown-word" },
    ],
  },
  integer: {
    takes: "a whole number, also as text and with empty decimals",
    refuses: {
      "not-a-whole-number":
        "no whole number, one too large to be held exactly, or a text such as 2.000, whose point may be a mark of " +
        "thousands",
    },
    examples: [
      { target: { kind: "integer" }, value: "2.000", refused: "not-a-whole-number" },
      { target: { kind: "integer" }, value: "12.0", gives: 12 },
      { target: { kind: "integer" }, value: 1.5, refused: "not-a-whole-number" },
    ],
  },
  boolean: {
    takes: "true or false, also as text; the operator `boolean` reads other words",
    refuses: { "not-a-boolean": "another word" },
    examples: [
      { target: { kind: "boolean" }, value: "true", gives: true },
      { target: { kind: "boolean" }, value: "yes", refused: "not-a-boolean" },
    ],
  },
  instant: {
    takes: "an ISO time with Z or an offset; the operator `date` reads other forms",
    refuses: {
      "not-an-instant": "a time without an offset, or no time",
      "no-such-date": "a time beyond the `plausibleDates` of the stream",
    },
    examples: [
      { target: { kind: "instant" }, value: "2026-01-01T09:00:00+01:00", gives: "2026-01-01T08:00:00.000Z" },
      { target: { kind: "instant" }, value: "2026-01-01", refused: "not-an-instant" },
    ],
  },
  texts: {
    takes: "a list of texts or numbers; one value counts as a list of one, and empty values are left out",
    refuses: textRefusals,
    examples: [
      { target: { kind: "texts" }, value: ["8001", 8002, null], gives: ["8001", "8002"] },
      { target: { kind: "texts" }, value: "8001", gives: ["8001"] },
    ],
  },
  money: {
    takes: "the value of the operator `money`",
    refuses: {},
    examples: [
      { target: { kind: "money" }, value: { currency: "EUR", minor: 100 }, gives: { currency: "EUR", minor: 100 } },
    ],
  },
};

/** Turns what an expression found into what the target field takes; refuses what is something else. */
export function coercionTo(target: Target, context: MappingContext): (value: Json) => Json | undefined {
  switch (target.kind) {
    case "text":
      return (value) => textOf(value, context);
    case "word": {
      const words = new Set(target.words);
      const expected = `one of ${target.words.join(", ")}`;
      return (value) =>
        typeof value === "string" && words.has(value) ? value : refuse(context, "unknown-word", value, expected);
    }
    case "integer":
      return (value) => integerOf(value, context);
    case "boolean":
      return (value) => booleanOf(value, context);
    case "instant":
      return (value) => instantOf(value, context);
    case "texts":
      return (value) => textsOf(value, context);
    case "money":
    case "list":
    case "object":
      return (value) => value;
  }
}
