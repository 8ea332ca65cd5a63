import type { Json, JsonObject } from "../base/canonical-json.ts";

/**
 * Fields that are a Long in a request (M1, M2, E5): digits beyond 2^53 stand as text in a payload, and as a JSON number
 * on the wire.
 */
const longFields: ReadonlySet<string> = new Set(["departmentId", "limitTimeDuration"]);

/** Digits as a JSON number, whatever their size (ECMAScript: JSON.rawJSON). */
const rawNumber: (digits: string) => object = Reflect.get(JSON, "rawJSON");

/** The bytes of a request's body: JSON in which a Long is a number with every digit. */
export function wireText(body: JsonObject): string {
  return JSON.stringify(body, (key: string, value: Json | undefined) =>
    typeof value === "string" && longFields.has(key) && /^-?\d+$/.test(value) ? rawNumber(value) : value,
  );
}
