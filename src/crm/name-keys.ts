import type { JsonObject, Json } from "../base/canonical-json.ts";
import type { Stream } from "./model.ts";

/** No more of a name than this is searched for: a name of any length takes little room. Code points. */
const longest = 120;

/** A name as it is compared: whatever its case, its spaces, and the way in which its accents are written. */
export function nameKey(stream: Stream, name: string): string | null {
  // What lies behind this much cannot be in the key.
  const plain = name
    .slice(0, longest * 4)
    .normalize("NFC")
    .toLowerCase()
    .normalize("NFC");
  const folded = plain.trim().replaceAll(/\s+/gu, " ");
  return folded === "" ? null : `${stream} ${Array.from(folded).slice(0, longest).join("")}`;
}

/** By which keys a record is found that has these private values: its name, and its login. */
export function nameKeysOf(stream: Stream, values: JsonObject): [name: string | null, login: string | null] {
  const key = (value: Json | undefined): string | null => (typeof value === "string" ? nameKey(stream, value) : null);
  if (stream === "orders") return [null, null];
  return [key(values["name"]), stream === "staff" ? key(values["userName"]) : null];
}
