import type { Json } from "../../base/canonical-json.ts";
import type { ColumnFacts } from "./columns.ts";

/** The country that is written where no column says one. */
const guessedCountry = "DE";

/** A column of phone numbers, with the operator that brings them into the form that the platform takes. */
export function phoneOf(
  { path, examples }: ColumnFacts,
  country: ColumnFacts | undefined,
): { expression: Json; doubt?: string } {
  if (examples.every((text) => /^\+\d+$/u.test(text))) return { expression: path };
  if (examples.every((text) => /^\s*(?:\+|00)/u.test(text))) return { expression: { phone: path } };
  if (
    country !== undefined &&
    country.examples.length > 0 &&
    country.examples.every((text) => /^[A-Z]{2}$/u.test(text))
  )
    return { expression: { phone: path, country: { path: country.path } } };
  return { expression: { phone: path, country: guessedCountry }, doubt: "the country of numbers without + or 00" };
}
