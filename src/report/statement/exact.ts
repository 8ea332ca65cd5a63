/** A whole number that is held exactly: a bigint where it has more digits than a number holds. */
export type Exact = number | bigint;

export function plus(one: Exact, other: Exact): Exact {
  if (typeof one === "number" && typeof other === "number" && Number.isSafeInteger(one + other)) return one + other;
  return exact(BigInt(one) + BigInt(other));
}

export function minus(one: Exact, other: Exact): Exact {
  if (typeof one === "number" && typeof other === "number" && Number.isSafeInteger(one - other)) return one - other;
  return exact(BigInt(one) - BigInt(other));
}

/** A whole number as JSON has it: a text of its digits where not every reader would take the number exactly. */
export function exactJson(value: Exact): number | string {
  const known = typeof value === "bigint" ? exact(value) : value;
  return typeof known === "bigint" ? String(known) : known;
}

/** Whether a cell holds a whole number. */
export function isExact(value: unknown): value is Exact {
  return typeof value === "number" || typeof value === "bigint";
}

function exact(value: bigint): Exact {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
