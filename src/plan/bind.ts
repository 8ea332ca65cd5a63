import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { PrivateMarker, Reference } from "../operation/references.ts";
import { isPrivateMarker, isReference } from "../operation/references.ts";

/** What a payload is bound against. `undefined` means: not known (yet), or erased. */
export interface Bindings {
  reference(reference: Reference): Json | undefined;
  privateValue(marker: PrivateMarker): Json | undefined;
  /** The initial password of a staff record, generated once and then always the same. */
  initialPassword(staff: string): string | undefined;
}

export type Bound =
  | { ok: true; wire: JsonObject }
  | { ok: false; missing: (Reference | { $private: string; field: string; version: number })[] };

/**
 * Makes the wire payload of an operation: every reference and every private marker is replaced by its value. Nothing is
 * dropped and nothing is invented: one missing value makes the whole payload unusable, and all missing ones are named.
 */
export function bind(payload: JsonObject, bindings: Bindings): Bound {
  const missing: (Reference | { $private: string; field: string; version: number })[] = [];
  const visit = (value: Json): Json => {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(visit);
    if (isReference(value)) {
      const found = bindings.reference(value);
      if (found === undefined) missing.push(value);
      return found ?? null;
    }
    if (isPrivateMarker(value)) {
      const found = bindings.privateValue(value);
      if (found === undefined) missing.push({ $private: value.$private, field: value.field, version: value.version });
      return found ?? null;
    }
    if (typeof value["$initialPassword"] === "string") {
      const staff = value["$initialPassword"];
      const password = bindings.initialPassword(staff);
      if (password === undefined)
        missing.push({ $private: `initial-password/${staff}`, field: "password", version: 1 });
      return password ?? null;
    }
    return visitObject(value);
  };
  const visitObject = (value: JsonObject): JsonObject => {
    const result: JsonObject = {};
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (member !== undefined) result[key] = visit(member);
    }
    return result;
  };
  const wire = visitObject(payload);
  return missing.length === 0 ? { ok: true, wire } : { ok: false, missing };
}
