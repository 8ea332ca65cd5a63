import type { Json } from "../../base/canonical-json.ts";
import { failed, ok } from "../../base/errors.ts";
import type { Result } from "../../base/errors.ts";
import { refuse } from "./context.ts";
import type { MappingContext } from "./context.ts";

/** A decimal number, exactly: `digits` × 10^-`scale`. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Digits before and after the point of a number that is calculated with. */
const mostDigits = 40;

/**
 * The decimal that a number or a text with a decimal point is; nothing of nothing. Refuses what is none, and what is too
 * long.
 */
export function decimalOf(value: Json | undefined, context: MappingContext): Decimal | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  const found = text.length > 2 * mostDigits ? null : /^([+-]?)(\d+)(?:\.(\d+))?(?:e([+-]\d{1,3}))?$/.exec(text);
  // An exponent stands in numbers alone, as JavaScript writes them.
  if (found === null || (found[4] !== undefined && typeof value !== "number"))
    return refuse(context, "not-a-number", value, "a decimal number; for other forms use {number: …, decimalMark: …}");
  if (typeof value === "string" && isDoubtful(value))
    return refuse(
      context,
      "not-a-number",
      value,
      `a decimal number; for a point like this use {number: …} with ${marksToName}`,
    );
  const [, sign, whole = "", fraction = "", exponent = "0"] = found;
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) > mostDigits || whole.length > mostDigits || fraction.length > mostDigits)
    return refuse(context, "not-exact", value, `a number of at most ${mostDigits} digits`);
  const digits = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

/**
 * The number that a decimal is. Refuses what a number does not hold digit by digit: more than 15 of them, unless it is
 * a whole number below 2^53.
 */
export function numberOf(decimal: Decimal, context: MappingContext): number | undefined {
  const { digits, scale } = shortest(decimal);
  const size = String(digits < 0n ? -digits : digits).length;
  const number = Number(digits);
  if (scale === 0 && Number.isSafeInteger(number)) return number === 0 ? 0 : number;
  if (size > 15 || scale > 30)
    return refuse(context, "not-exact", textOfDecimal({ digits, scale }), "a number of at most 15 digits; round it");
  return Number(textOfDecimal({ digits, scale }));
}

export function multiply(one: Decimal, other: Decimal): Decimal {
  return { digits: one.digits * other.digits, scale: one.scale + other.scale };
}

/** Less than 0: the first one is smaller; 0: they are the same. */
export function compare(one: Decimal, other: Decimal): number {
  const scale = Math.max(one.scale, other.scale);
  const digits = atScale(one, scale) - atScale(other, scale);
  return digits < 0n ? -1 : digits > 0n ? 1 : 0;
}

function atScale({ digits, scale }: Decimal, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - scale);
}

/** Without zeros at the end of its decimals. */
function shortest({ digits, scale }: Decimal): Decimal {
  let [short, left] = [digits, scale];
  while (left > 0 && short % 10n === 0n) {
    short /= 10n;
    left -= 1;
  }
  return { digits: short, scale: left };
}

function textOfDecimal({ digits, scale }: Decimal): string {
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const point = text.length - scale;
  const sign = digits < 0n ? "-" : "";
  return scale === 0 ? `${sign}${text}` : `${sign}${text.slice(0, point)}.${text.slice(point)}`;
}

/** What stands in numbers that are written as text. */
export interface Marks {
  /** Undefined: a point, which nobody named. */
  decimalMark: string | undefined;
  groupMark: string | undefined;
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
