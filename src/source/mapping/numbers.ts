import type { Json } from "../../base/canonical-json.ts";
import { failed, ok, type Result } from "../../base/errors.ts";
import { refuse, type MappingContext } from "./context.ts";

export interface Marks {
  /** Undefined: a point, but not named in the mapping. */
  decimalMark?: string | undefined;
  groupMark?: string | undefined;
}

export const marksToName = '`decimalMark: "."`, or `decimalMark: ",", groupMark: "."`';

/** Whether the point could separate thousands, as in 2.000. Numbers of JSON and databases never look like this. */
export function isDoubtful(text: string): boolean {
  return /^\s*[+-]?[1-9]\d{0,2}\.\d{3}\s*$/u.test(text);
}

/** Rewrites a text with these marks to a decimal point without groups. A failure says how to write it. */
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

/** A text may have 15 digits before and 15 after the mark, without final zeros. */
export function numberReader(marks: Marks, context: MappingContext): (value: Json | undefined) => number | undefined {
  const asPoint = pointReader(marks);
  const isNamed = marks.decimalMark !== undefined || marks.groupMark !== undefined;
  const expected = isNamed ? "a number" : "a decimal number; {number: …, decimalMark: …} reads other marks";
  return (value) => {
    if (value === undefined || typeof value === "number") return value;
    const written = typeof value === "string" ? asPoint(value) : failed("written as text");
    if (!written.ok) return refuse(context, "not-a-number", value, `a number ${written.error}`);
    const digits = /^[+-]?\d{1,15}(?:\.(\d{1,64}))?$/.exec(written.value);
    if (digits !== null && (digits[1] ?? "").replace(/0+$/, "").length <= 15) return Number(written.value);
    return refuse(context, "not-a-number", value, expected);
  };
}

const exactly = "numbers whose product has at most 15 digits; round them";

/** The exact product. Refuses a product that a number cannot hold exactly. */
export function productOf(numbers: readonly number[], context: MappingContext): number | undefined {
  let [digits, scale] = [1n, 0];
  for (const number of numbers) {
    const [, whole, fraction = ""] = /^(-?\d+)(?:\.(\d+))?$/.exec(String(number)) ?? [];
    // A number that prints with an exponent is not exact.
    if (whole === undefined) return refuse(context, "not-exact", number, exactly);
    digits *= BigInt(`${whole}${fraction}`);
    scale += fraction.length;
  }
  while (scale > 0 && digits % 10n === 0n) [digits, scale] = [digits / 10n, scale - 1];
  const whole = Number(digits);
  const isExact = scale === 0 ? Number.isSafeInteger(whole) : Math.abs(whole) < 1e15 && scale <= 22;
  return isExact ? whole / 10 ** scale : refuse(context, "not-exact", whole / 10 ** scale, exactly);
}
