/** Minor units without two digits (ISO 4217 list one). Intl has digits of shop prices, too few for IDR, HUF or IQD. */
const digitsBesideTwo: ReadonlyMap<string, number> = new Map(
  Object.entries({
    0:
      "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF " +
      "XAD XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
  }).flatMap(([digits, currencies]) => currencies.split(" ").map((currency) => [currency, Number(digits)])),
);

/** 2 for EUR, 0 for JPY, 3 for KWD. A currency that ISO 4217 does not list has 2. */
export function minorDigits(currency: string): number {
  return digitsBesideTwo.get(currency) ?? 2;
}

/** With all digits of the currency, such as `-12.50` or `500`. */
export function decimalText(minor: number | bigint, currency: string): string {
  const digits = minorDigits(currency);
  const negative = minor < 0;
  const whole = String(negative ? -minor : minor).padStart(digits + 1, "0");
  const at = whole.length - digits;
  const text = digits === 0 ? whole : `${whole.slice(0, at)}.${whole.slice(at)}`;
  return negative ? `-${text}` : text;
}
