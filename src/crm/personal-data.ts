export const emailAddress = /[^\s@<>"',;:]+@[^\s@<>"',;:]+/gu;
/** An international number inside a sentence; asset numbers and ids never begin with a plus. */
export const internationalNumber = /\+\d(?:[\s\-()./]?\d){6,14}(?!\d)/gu;
/** A mobile number as M1 and E5 take it, in any grouping, also where words stand without spaces. */
const mobileNumber = /(?<![\d/#])(?:(?:00)?86[\s-]?)?1[3-9]\d(?:[\s-]?\d{4}){2}(?!\d)/u;
/** A number that could be dialled; an id goes on from a letter, or stands behind `/` or `#`. */
const dialledNumber = /(?<![A-Za-z\d_/#]|[A-Za-z\d_]-)\(?\d(?:\)?[\s\-./]?\(?\d){8,14}(?!\d)/gu;
const date = /(?<!\d)\d{4}[-/]\d{2}[-/]\d{2}(?!\d)/gu;

/**
 * What of a person a text in somebody's own words holds, as far as its form shows it. A whole number of which
 * `isOther` holds, such as an asset number, and a list of long numbers are none.
 */
export function personalDataIn(
  text: string,
  isOther: (digits: string) => boolean,
): "an e-mail address" | "a phone number" | undefined {
  if (text.search(emailAddress) >= 0) return "an e-mail address";
  if (text.search(internationalNumber) >= 0 || mobileNumber.test(text)) return "a phone number";
  const numbers = text.replaceAll(date, "|").match(dialledNumber) ?? [];
  const isPhone = (number: string): boolean => {
    const [first = "", ...others] = number.match(/\d+/gu) ?? [];
    if (others.length === 0) return !isOther(first);
    return first.startsWith("0") || [first, ...others].some((group) => group.length < 5);
  };
  return numbers.some(isPhone) ? "a phone number" : undefined;
}
