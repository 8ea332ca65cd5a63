export const emailAddress = /[^\s@<>"',;:]+@[^\s@<>"',;:]+/gu;
/** In a sentence. Asset numbers and ids never begin with a plus. */
export const internationalNumber = /\+\d(?:[\s\-()./]?\d){6,14}(?!\d)/gu;
/** A mobile number as M1 and E5 accept it, in any grouping, also without spaces around it. */
const mobileNumber = /(?<![\d/#])(?:(?:00)?86[\s-]?)?1[3-9]\d(?:[\s-]?\d{4}){2}(?!\d)/u;
/** A number that could be dialled. Ids follow a letter, `/` or `#`. */
const dialledNumber = /(?<![A-Za-z\d_/#]|[A-Za-z\d_]-)\(?\d(?:\)?[\s\-./]?\(?\d){8,14}(?!\d)/gu;
const date = /(?<!\d)\d{4}[-/]\d{2}[-/]\d{2}(?!\d)/gu;
const wholeNumber = /(?<!\d|\d[\s\-./])\d+(?!\d)/gu;
const named = String.raw`(?:20\d{2}-\d{6,}|[1-9]\d{7,}(?:-\d{1,6})?)(?!\d)`;
const things = ["order", "enterprise", "asset", "ticket", "invoice", "contract"];
const namedNumbers = new RegExp(
  String.raw`\b(?:${things.join("|")})(?: ?id| no\.?| number)?:? ${named}|` +
    String.raw`\b(?:${things.join("s|")}s) ${named}(?:(?:,| and|, and)? ${named})*`,
  "giu",
);

/** By form. These are not phone numbers: `isOther` ones, ids after a word such as "order", lists of long numbers. */
export function personalDataIn(
  text: string,
  isOther: (digits: string) => boolean,
): "an e-mail address" | "a phone number" | undefined {
  // Other forms of digits, signs and dashes become plain ones.
  const plain = text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/\p{Pd}/gu, "-");
  if (plain.search(emailAddress) >= 0) return "an e-mail address";
  if (plain.search(internationalNumber) >= 0 || mobileNumber.test(plain)) return "a phone number";
  const numbers = withoutAll(plain.replaceAll(date, "|").replaceAll(namedNumbers, "|"), isOther).match(dialledNumber);
  const isPhone = (number: string): boolean => {
    const [first = "", ...others] = number.match(/\d+/gu) ?? [];
    return others.length === 0 || first.startsWith("0") || [first, ...others].some((group) => group.length < 5);
  };
  return numbers?.some(isPhone) === true ? "a phone number" : undefined;
}

export function isAddressOrNumber(id: string): boolean {
  const rest = id.trim();
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/u.test(rest)) return true;
  return /^\+[\d\s()./-]{7,}$/u.test(rest) || (mobileNumber.test(rest) && /^[\d\s-]+$/u.test(rest));
}

/** Repeats, because removing a number can expose the next one. */
function withoutAll(text: string, isOther: (digits: string) => boolean): string {
  const without = text.replaceAll(wholeNumber, (digits) => (isOther(digits) ? "|" : digits));
  return without === text ? text : withoutAll(without, isOther);
}
