import type { Json } from "../../base/canonical-json.ts";
import { failed, ok, type Result } from "../../base/errors.ts";
import { refuse, type MappingContext } from "./context.ts";

/** What stands in numbers that are written as text. */
export interface Marks {
  /** Undefined: a point, which nobody named. */
  decimalMark?: string | undefined;
  groupMark?: string | undefined;
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

/**
 * Reads a number, or a text of at most 15 digits before and behind its mark, zeros at its end aside; nothing of nothing.
 * Refuses what is none.
 */
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

/** The product of numbers, exactly: refuses one whose digits a number does not hold. */
export function productOf(numbers: readonly number[], context: MappingContext): number | undefined {
  let [digits, scale] = [1n, 0];
  for (const number of numbers) {
    const [, whole, fraction = ""] = /^(-?\d+)(?:\.(\d+))?$/.exec(String(number)) ?? [];
    // One that is written with an exponent is beyond what is exact.
    if (whole === undefined) return refuse(context, "not-exact", number, exactly);
    digits *= BigInt(`${whole}${fraction}`);
    scale += fraction.length;
  }
  while (scale > 0 && digits % 10n === 0n) [digits, scale] = [digits / 10n, scale - 1];
  const whole = Number(digits);
  const isExact = scale === 0 ? Number.isSafeInteger(whole) : Math.abs(whole) < 1e15 && scale <= 22;
  return isExact ? whole / 10 ** scale : refuse(context, "not-exact", whole / 10 ** scale, exactly);
}
