import type { Json } from "../../base/canonical-json.ts";
import type { Money } from "../../crm/model.ts";
import { minorDigits } from "../../crm/currency.ts";
import { refuse } from "./context.ts";
import type { MappingContext } from "./context.ts";
import { pointReader } from "./marks.ts";
import type { Marks } from "./marks.ts";

export interface MoneyFormat extends Marks {
  /**
   * The most decimals that an amount has. Undefined: as many as the minor unit of its currency has digits, 2 for EUR, 0
   * for JPY. Fewer than that make the last of them the minor unit: 0 for amounts in cents.
   */
  decimals: number | undefined;
}

/** So many whole units of a currency have no room in every format of a statement. */
const mostWhole = 10 ** 14;

/** The reader of amounts: decimal text to minor units, digit by digit, without floating point. Never rounds. */
export function compileAmount(
  format: MoneyFormat,
  context: MappingContext,
): (value: Json, currency: string) => Money | undefined {
  const asPoint = pointReader(format);
  const threeDigits = 3;
  const withThreeDecimals = pointReader({ ...format, decimalMark: format.decimalMark ?? "." });
  return (value, currency) => {
    const digits = minorDigits(currency);
    const decimals = Math.min(format.decimals ?? digits, digits);
    // Without decimals an amount is one of the minor unit.
    const places = format.decimals === 0 ? 0 : digits;
    const expected = `an amount with at most ${decimals} decimals`;
    let text = typeof value === "number" ? String(value) : value;
    if (typeof text !== "string") return refuse(context, "not-an-amount", value, expected);
    if (typeof value === "string") {
      const written = decimals === threeDigits ? withThreeDecimals(value) : asPoint(value);
      if (!written.ok) return refuse(context, "not-an-amount", value, `${expected}, ${written.error}`);
      text = written.value;
    }
    const match = /^([+-]?)(\d{1,15})(?:\.(\d*))?$/.exec(text.trim());
    if (match === null) return refuse(context, "not-an-amount", value, expected);
    const fraction = match[3] ?? "";
    if (/[^0]/.test(fraction.slice(decimals))) return refuse(context, "not-an-amount", value, expected);
    const minor = Number(`${match[2]}${fraction.slice(0, decimals).padEnd(places, "0")}`);
    if (!Number.isSafeInteger(minor) || minor >= mostWhole * 10 ** digits) {
      const most = Math.min(mostWhole, Math.floor(Number.MAX_SAFE_INTEGER / 10 ** digits));
      return refuse(context, "not-an-amount", value, `an amount below ${most.toLocaleString("en")}`);
    }
    return { currency, minor: match[1] === "-" && minor !== 0 ? -minor : minor };
  };
}
