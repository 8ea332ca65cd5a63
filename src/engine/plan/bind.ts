import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { type PrivateMarker, type Reference, isPrivateMarker, isReference } from "../model/references.ts";

/** Undefined: not known yet, or erased. */
export interface Bindings {
  reference(reference: Reference): Json | undefined;
  privateValue(marker: PrivateMarker): Json | undefined;
  initialPassword(staff: string): string | undefined;
  newPassword(staff: string): string | undefined;
}

type Missing = Reference | { $private: string; field: string; version: number };

export type Bound = { ok: true; wire: JsonObject } | { ok: false; missing: Missing[] };

/** If one value is missing, nothing is usable. The result shares parts with the payload: change neither. */
export function bind(payload: JsonObject, bindings: Bindings): Bound {
  const missing: Missing[] = [];
  const wire = boundMembers(payload, bindings, missing);
  return missing.length === 0 ? { ok: true, wire } : { ok: false, missing };
}

function boundMembers(value: JsonObject, bindings: Bindings, missing: Missing[]): JsonObject {
  let bound: JsonObject | undefined;
  for (const name in value) {
    const member = value[name];
    if (typeof member !== "object" || member === null) continue;
    const put = boundValue(member, bindings, missing);
    if (put === member) continue;
    bound ??= { ...value };
    bound[name] = put;
  }
  return bound ?? value;
}

function boundItems(list: Json[], bindings: Bindings, missing: Missing[]): Json[] {
  let bound: Json[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index];
    if (typeof item !== "object" || item === null) continue;
    const put = boundValue(item, bindings, missing);
    if (put === item) continue;
    bound ??= [...list];
    bound[index] = put;
  }
  return bound ?? list;
}

function boundValue(value: Json[] | JsonObject, bindings: Bindings, missing: Missing[]): Json {
  if (Array.isArray(value)) return boundItems(value, bindings, missing);
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
  const made = madePassword(value, bindings);
  if (made === undefined) return boundMembers(value, bindings, missing);
  if (made.password === undefined) missing.push({ $private: made.ref, field: "password", version: 1 });
  return made.password ?? null;
}

function madePassword(
  value: JsonObject,
  bindings: Bindings,
): { ref: string; password: string | undefined } | undefined {
  const { $initialPassword: initial, $newPassword: anew } = value;
  if (typeof initial === "string")
    return { ref: `initial-password/${initial}`, password: bindings.initialPassword(initial) };
  return typeof anew === "string" ? { ref: `reset-password/${anew}`, password: bindings.newPassword(anew) } : undefined;
}
