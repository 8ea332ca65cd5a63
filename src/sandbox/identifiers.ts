declare global {
  interface JSON {
    /** A value that JSON.stringify writes as the given text (ECMAScript, JSON.parse source text access). */
    rawJSON(text: string): object;
  }
}

/** The first two digits of an identifier tell what it names, so that a mixed-up identifier is seen at once. */
const prefixes = {
  enterprise: "61",
  customer: "62",
  member: "63",
  licenseOrder: "64",
  asset: "65",
  product: "66",
  merchandise: "67",
  staffRecord: "68",
  user: "69",
} as const;

export type IdentifierKind = keyof typeof prefixes;

/**
 * The public identifier of a row: 19 digits, above 2^53 and below 2^63, so that a reader who takes it for a JavaScript
 * number loses digits.
 */
export function identifierOf(kind: IdentifierKind, row: number): string {
  return prefixes[kind] + String(row).padStart(17, "0");
}

/** The row that a public identifier names; undefined for text that is no identifier of this kind. */
export function rowOf(kind: IdentifierKind, identifier: string): number | undefined {
  if (!/^\d{19}$/.test(identifier) || !identifier.startsWith(prefixes[kind])) return undefined;
  return Number(identifier.slice(2));
}

/** Digits as a JSON number, whatever their size. */
export function numberOf(digits: string): object {
  return JSON.rawJSON(digits);
}
