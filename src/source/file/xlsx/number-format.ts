/** How the number of a cell is shown: what it means for its text. */
export type NumberForm =
  | { kind: "number" }
  | { kind: "padded"; digits: number }
  | { kind: "date" | "dateTime" | "time" };

/** The formats that every workbook has, by their number (ECMA-376, 18.8.30), as far as they show dates. */
function builtIn(id: number): NumberForm | undefined {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return { kind: "date" };
  if (id === 22) return { kind: "dateTime" };
  return (id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 45 || id === 47 ? { kind: "time" } : undefined;
}

/** What a number format says; `code` is that of one that the workbook declares. */
export function formOf(id: number, code: string | undefined): NumberForm {
  if (code === undefined) return builtIn(id) ?? { kind: "number" };
  const shown =
    code
      .replaceAll(/"[^"]*"|\\.|[_*]./gsu, "")
      // Hours in brackets are a duration; anything else in them is a colour, a condition or a language.
      .replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/giu, "")
      .split(";", 1)[0]
      ?.replaceAll(/general|am\/pm|a\/p/giu, "") ?? "";
  if (/^0{2,}$/u.test(shown)) return { kind: "padded", digits: shown.length };
  if (/\[(?:h+|m+|s+)\]/iu.test(shown)) return { kind: "number" };
  const hasTime = /[hs]/iu.test(shown);
  const hasDate = /[ydge]/iu.test(shown.replaceAll(/e[+-]/giu, "")) || (/m/iu.test(shown) && !hasTime);
  if (hasDate) return { kind: hasTime ? "dateTime" : "date" };
  return { kind: hasTime ? "time" : "number" };
}

/** Days from 1900-01-00 and from 1904-01-01 to 1970-01-01. */
const epoch = { 1900: 25_569, 1904: 24_107 };
/** The last day of the year 9999. */
const lastDay = { 1900: 2_958_465, 1904: 2_957_003 };
const secondsOfDay = 86_400;

/** The text of a number as it is shown, a date as ISO 8601; undefined for a number that is no date. */
export function shownNumber(written: string, form: NumberForm, is1904: boolean): string | undefined {
  const number = Number(written);
  if (written.trim() === "" || !Number.isFinite(number)) return undefined;
  if (form.kind === "number") return plainNumber(written);
  if (form.kind === "padded") {
    const plain = plainNumber(written);
    return /^\d+$/u.test(plain) ? plain.padStart(form.digits, "0") : plain;
  }
  const seconds = Math.round(number * secondsOfDay);
  const day = form.kind === "date" ? Math.floor(number) : Math.floor(seconds / secondsOfDay);
  const time = new Date((seconds - day * secondsOfDay) * 1_000);
  const isTimeOnly = form.kind === "time" && day === 0;
  if (isTimeOnly) return time.toISOString().slice(11, 19);
  const system = is1904 ? 1904 : 1900;
  // The system of 1900 has a day that never was, the 29th of February 1900.
  if (day < (is1904 ? 0 : 1) || day > lastDay[system] || (!is1904 && day === 60)) return undefined;
  const days = day - epoch[system] + (!is1904 && day < 60 ? 1 : 0);
  const date = new Date(days * secondsOfDay * 1_000).toISOString().slice(0, 10);
  return form.kind === "date" ? date : `${date}T${time.toISOString().slice(11, 19)}`;
}

/** Digits that a spreadsheet keeps; those beyond are noise of binary numbers. */
const keptDigits = 15;

/**
 * A number without exponent, with all of its digits: `1.5E+3` is `1500`. What has more digits behind its point than
 * a spreadsheet keeps is rounded to those: `0.30000000000000004` is `0.3`.
 */
function plainNumber(written: string): string {
  const [, sign = "", whole = "", part = "", power = "0"] =
    /^\s*([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?\s*$/iu.exec(written) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/u, "");
  const isNoisy = part !== "" && digits.replace(/0+$/u, "").length > keptDigits && whole.length <= keptDigits;
  if (isNoisy) return plainNumber(String(Number(Number(written).toPrecision(keptDigits))));
  const point = whole.length + Number(power);
  const all = `${whole}${part}`;
  const before = (point <= 0 ? "" : all.slice(0, point).padEnd(point, "0")).replace(/^0+/u, "") || "0";
  const behind = (point < 0 ? "0".repeat(-point) + all : all.slice(point)).replace(/0+$/u, "");
  const plain = behind === "" ? before : `${before}.${behind}`;
  return sign === "-" && plain !== "0" ? `-${plain}` : plain;
}
