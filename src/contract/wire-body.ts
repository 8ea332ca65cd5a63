import type { Json, JsonObject } from "../base/canonical-json.ts";

/**
 * Fields that are a Long in a request (M1, M2, E5): digits beyond 2^53 stand as text in a payload, and as a JSON number
 * on the wire.
 */
const isLong = (name: string): boolean => name === "departmentId" || name === "limitTimeDuration";

/** Digits as a JSON number, whatever their size (ECMAScript: JSON.rawJSON). */
const rawNumber: (digits: string) => object = Reflect.get(JSON, "rawJSON");

/** The bytes of a request's body: JSON in which a Long is a number with every digit. */
export function wireText(body: JsonObject): string {
  if (!holdsLongText(body)) return JSON.stringify(body);
  return JSON.stringify(body, (key: string, value: Json | undefined) =>
    typeof value === "string" && isLong(key) && /^-?\d+$/.test(value) ? rawNumber(value) : value,
  );
}

/** Whether a Long stands as text anywhere in a body: hardly ever, and writing it costs several times as much then. */
function holdsLongText(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (holdsLongText(value[index])) return true;
    return false;
  }
  for (const name in value) {
    const member = value[name];
    if (typeof member === "string" ? isLong(name) : holdsLongText(member)) return true;
  }
  return false;
}
