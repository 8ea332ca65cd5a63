import type { JsonObject } from "../../base/canonical-json.ts";
import { failed, ok } from "../../base/errors.ts";
import type { Result } from "../../base/errors.ts";
import { mistake } from "./context.ts";
import type { KeyPath, MappingContext } from "./context.ts";

/** What stands in numbers that are written as text. */
export interface Marks {
  /** Undefined: a point, which nobody named. */
  decimalMark: string | undefined;
  groupMark: string | undefined;
}

/** The marks beside an operator. One mark cannot be both: nobody could tell what it means in 1.500. */
export function marksOf(spec: JsonObject, at: KeyPath, context: MappingContext): Marks {
  const text = (key: string): string | undefined => {
    const value = spec[key];
    if (value === undefined || typeof value === "string") return value;
    mistake(context, [...at.slice(0, -1), key], `found ${JSON.stringify(value)}; expected text`);
    return undefined;
  };
  const marks = { decimalMark: text("decimalMark"), groupMark: text("groupMark") };
  if (marks.groupMark === "" || marks.groupMark === (marks.decimalMark ?? ".")) {
    const found = marks.groupMark === "" ? "is empty" : "is also the decimal mark";
    mistake(context, [...at.slice(0, -1), "groupMark"], `${found}; expected another mark`);
  }
  return marks;
}

/** What a mapping says of a number whose point could be either mark. */
export const marksToName = '`decimalMark: "."`, or `decimalMark: ",", groupMark: "."`';

/**
 * Whether the point of a number that is written as text could stand between thousands, as in 2.000, and nobody knows.
 * Numbers of JSON and of databases have decimal points, and are no texts where they look like this.
 */
export function isDoubtful(text: string): boolean {
  return /^\s*[+-]?[1-9]\d{0,2}\.\d{3}\s*$/u.test(text);
}

/**
 * Reads texts with these marks as texts with a decimal point and no groups. A failure says how they would have to be
 * written.
 */
export function pointReader({ decimalMark: named, groupMark }: Marks): (text: string) => Result<string, string> {
  const decimalMark = named ?? ".";
  const isUnnamed = named === undefined && groupMark === undefined;
  const group = RegExp.escape(groupMark ?? "");
  const grouped = new RegExp(`^[+-]?\\d{1,3}(?:${group}\\d{3})+(?:${RegExp.escape(decimalMark)}\\d*)?$`);
  return (written) => {
    let text = written.trim();
    if (isUnnamed && isDoubtful(text)) return failed(`whose point is named: ${marksToName}`);
    if (groupMark !== undefined && text.includes(groupMark)) {
      if (!grouped.test(text)) return failed("in groups of three digits");
      text = text.replaceAll(groupMark, "");
    }
    if (decimalMark === ".") return ok(text);
    return text.includes(".") ? failed(`with the decimal mark ${decimalMark}`) : ok(text.replace(decimalMark, "."));
  };
}
