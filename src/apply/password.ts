import type { Randomness } from "../base/ids.ts";

const lower = "abcdefghijkmnpqrstuvwxyz";
const upper = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const digits = "23456789";
const all = lower + upper + digits;

/** A password of letters and digits that are not taken for one another, with at least one of each kind. */
export function generatePassword(length: number, random: Randomness): string {
  const bytes = (random.hex(length * 2).match(/.{4}/g) ?? []).map((part) => Number.parseInt(part, 16));
  const pick = (alphabet: string, value: number | undefined): string => alphabet[(value ?? 0) % alphabet.length] ?? "";
  const characters = bytes.map((value) => pick(all, value));
  const places = [0, 1, 2].map((place) => place % length);
  [lower, upper, digits].forEach((alphabet, index) => {
    const place = places[index];
    if (place !== undefined) characters[place] = pick(alphabet, bytes[place]);
  });
  return characters.join("");
}
