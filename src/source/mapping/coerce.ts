import type { Json } from "../../base/canonical-json.ts";
import { refuse } from "./context.ts";
import type { MappingContext } from "./context.ts";
import { instantOf } from "./date.ts";
import type { Target } from "./target.ts";

/** Text that every store and every service can hold: no NUL, no lone surrogate. */
function cleanText(text: string, context: MappingContext): string | undefined {
  if (!text.isWellFormed()) return refuse(context, "broken-text", text, "text without lone surrogates");
  if (text.includes("\0")) return refuse(context, "broken-text", text, "text without NUL characters");
  return text;
}

/** Text, or a number as the source wrote it. */
export function textOf(value: Json, context: MappingContext): string | undefined {
  if (typeof value === "string") return cleanText(value, context);
  if (typeof value === "number") return String(value);
  return refuse(context, "wrong-type", value, "text");
}

/** A whole number that JavaScript holds exactly; also written as text, also as `12.0`. */
function integerOf(value: Json, context: MappingContext): number | undefined {
  const number = typeof value === "string" && /^[+-]?\d{1,16}(?:\.0*)?$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number === 0 ? 0 : number;
  return refuse(context, "not-a-whole-number", value, "a whole number");
}

function booleanOf(value: Json, context: MappingContext): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === "true") return true;
  if (value === "false") return false;
  return refuse(context, "not-a-boolean", value, "true or false; other words need {boolean: …, true: […], false: […]}");
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
      return (value) => value;
  }
}
