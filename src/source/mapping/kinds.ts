import type { Json } from "../../base/canonical-json.ts";
import type { Target } from "./target.ts";

/** What a value is. An instant is written as text. */
type Kind = "text" | "number" | "boolean" | "instant" | "money" | "list" | "object";

/** What an expression can give; undefined: anything. */
export type Kinds = readonly Kind[] | undefined;

export const textual: Kinds = ["text", "number"];
export const numeric: Kinds = ["number", "text"];
export const plain: Kinds = ["text", "number", "boolean"];
export const ofInstant: Kinds = ["instant", "text"];
export const ofList: Kinds = ["list", "object"];

const words: Record<Kind, string> = {
  text: "text",
  number: "a number",
  boolean: "true or false",
  instant: "an instant",
  money: "an amount of money",
  list: "a list",
  object: "an object",
};

export function anyOf(all: readonly Kinds[]): Kinds {
  const found = new Set<Kind>();
  for (const kinds of all) {
    if (kinds === undefined) return undefined;
    for (const kind of kinds) found.add(kind);
  }
  return [...found];
}

export function kindsOfConstant(value: Json | undefined): Kinds {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return ["list"];
  switch (typeof value) {
    case "string":
      return ["text"];
    case "number":
      return ["number"];
    case "boolean":
      return ["boolean"];
    default:
      return ["object"];
  }
}

/** What is wrong with handing on what can be given to what takes something else; undefined where it may fit. */
export function misfit(given: Kinds, taken: Kinds): string | undefined {
  if (given === undefined || taken === undefined || given.length === 0) return undefined;
  const fits = (kind: Kind): boolean => taken.includes(kind) || (kind === "instant" && taken.includes("text"));
  return given.some(fits) ? undefined : `gives ${wordsOf(given)}; expected ${wordsOf(taken)}`;
}

const wordsOf = (kinds: readonly Kind[]): string => kinds.map((kind) => words[kind]).join(" or ");

/** What a field of the canonical model can be made of. */
export function takenBy({ kind }: Target): Kinds {
  switch (kind) {
    case "text":
      return textual;
    case "word":
      return ["text"];
    case "integer":
      return numeric;
    case "boolean":
      return ["boolean", "text"];
    case "instant":
      return ofInstant;
    case "texts":
      return ["list", "text", "number"];
    case "money":
      return ["money", "object"];
    case "list":
      return ofList;
    case "object":
      return ["object"];
  }
}
