import type { JsonObject, Json } from "../base/canonical-json.ts";
import type { Stream } from "./model.ts";

/** No more of a name than this is searched for: a name of any length takes little room. Code points. */
const longest = 120;

/** Whose name it is: that of a company may be shown to every signed-in user, that of a person is personal data. */
export type Named = "company" | "person";

/** A name as it is compared: whatever its case, its spaces, and the way in which its accents are written. */
export function comparedName(name: string): string | null {
  // What lies behind this much cannot be in the key.
  const start = name.length > longest * 4 ? name.slice(0, longest * 4) : name;
  const lower = start.normalize("NFC").toLowerCase();
  // Lower case alone can leave what is written in another way; of ASCII it never does.
  const folded = (isAscii(lower) ? lower : lower.normalize("NFC")).trim().replaceAll(/\s+/gu, " ");
  if (folded === "") return null;
  return folded.length <= longest ? folded : Array.from(folded).slice(0, longest).join("");
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/u.test(text);
}

/** The key by which a record is found; companies and people have keys apart, so that who looks for one meets no other. */
export function nameKey(named: Named, name: string): string | null {
  const compared = comparedName(name);
  return compared === null ? null : `${named} ${compared}`;
}

/** Whose names a stream has: a customer may be a person too. */
export const namedIn: Record<Stream, readonly Named[]> = {
  customers: ["company", "person"],
  orders: [],
  staff: ["person"],
};

/** By which keys a record is found that says this: its name, and its login. */
export function nameKeysOf(stream: Stream, record: JsonObject): [name: string | null, login: string | null] {
  if (stream === "orders") return [null, null];
  const named = stream === "customers" && record["customerType"] === "company" ? "company" : "person";
  const key = (value: Json | undefined): string | null => (typeof value === "string" ? nameKey(named, value) : null);
  return [key(record["name"]), stream === "staff" ? key(record["userName"]) : null];
}
