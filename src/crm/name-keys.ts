import type { JsonObject, Json } from "../base/canonical-json.ts";
import type { Stream } from "./model.ts";

/** Only so much of a name is searched, in code points. */
const longest = 120;

export type Named = "company" | "person";

/** Ignores case, spaces and the encoding of accents. */
export function comparedName(name: string): string | null {
  const start = name.length > longest * 4 ? name.slice(0, longest * 4) : name;
  const lower = start.normalize("NFC").toLowerCase();
  // Lower case can undo the normal form, except in ASCII.
  const folded = (isAscii(lower) ? lower : lower.normalize("NFC")).trim().replaceAll(/\s+/gu, " ");
  if (folded === "") return null;
  return folded.length <= longest ? folded : Array.from(folded).slice(0, longest).join("");
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/u.test(text);
}

/** Companies and people have separate keys, so that a search finds only one of them. */
export function nameKey(named: Named, name: string): string | null {
  const compared = comparedName(name);
  return compared === null ? null : `${named} ${compared}`;
}

export const namedIn: Record<Stream, readonly Named[]> = {
  customers: ["company", "person"],
  orders: [],
  staff: ["person"],
};

export function nameKeysOf(stream: Stream, record: JsonObject): [name: string | null, login: string | null] {
  if (stream === "orders") return [null, null];
  const named = stream === "customers" && record["customerType"] === "company" ? "company" : "person";
  const key = (value: Json | undefined): string | null => (typeof value === "string" ? nameKey(named, value) : null);
  return [key(record["name"]), stream === "staff" ? key(record["userName"]) : null];
}
