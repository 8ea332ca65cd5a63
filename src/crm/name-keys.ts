import type { JsonObject, Json } from "../base/canonical-json.ts";
import type { Stream } from "./model.ts";

/** No more of a name than this is searched for: a name of any length takes little room. Code points. */
const longest = 120;

/** A name as it is compared: whatever its case, its spaces, and the way in which its accents are written. */
export function nameKey(stream: Stream, name: string): string | null {
  // What lies behind this much cannot be in the key.
  const start = name.length > longest * 4 ? name.slice(0, longest * 4) : name;
  const lower = start.normalize("NFC").toLowerCase();
  // Lower case alone can leave what is written in another way; of ASCII it never does.
  const folded = (isAscii(lower) ? lower : lower.normalize("NFC")).trim().replaceAll(/\s+/gu, " ");
  if (folded === "") return null;
  return `${stream} ${folded.length <= longest ? folded : Array.from(folded).slice(0, longest).join("")}`;
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/u.test(text);
}

/** By which keys a record is found that has these private values: its name, and its login. */
export function nameKeysOf(stream: Stream, values: JsonObject): [name: string | null, login: string | null] {
  const key = (value: Json | undefined): string | null => (typeof value === "string" ? nameKey(stream, value) : null);
  if (stream === "orders") return [null, null];
  return [key(values["name"]), stream === "staff" ? key(values["userName"]) : null];
}
