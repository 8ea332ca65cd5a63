import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { Stream } from "../../crm/model.ts";
import { readsOf } from "./compile.ts";
import type { MappingSpec } from "./compile.ts";
import { everyElement } from "./context.ts";
import { formatRawPath, parseRawPath } from "./raw-path.ts";

/** What stands in a raw record where a secret was. */
export const blankedSecret = "[secret]";

/** The places of a raw record that the mapping reads secrets from, such as `lines[].password`; sorted. */
export function secretPaths(stream: Stream, spec: MappingSpec): string[] {
  const secrets = readsOf(stream, spec).filter((read) => read.secret);
  return [...new Set(secrets.map((read) => formatRawPath(read.steps)))].sort();
}

/**
 * A copy of a raw record in which everything at `paths` is blanked. What is not there stays away; the record given is
 * not changed.
 */
export function blankSecrets(raw: JsonObject, paths: readonly string[]): JsonObject {
  let blanked: JsonObject = raw;
  for (const path of paths) {
    const result = blankAt(blanked, parseRawPath(path), 0);
    if (isJsonObject(result)) blanked = result;
  }
  return blanked;
}

function blankAt(value: Json | undefined, steps: readonly (string | number)[], depth: number): Json | undefined {
  const step = steps[depth];
  if (value === undefined || value === null) return value;
  if (step === undefined) return blankedSecret;
  if (step === everyElement) {
    // A list with a single element may stand as that element alone.
    if (!Array.isArray(value)) return blankAt(value, steps, depth + 1);
    return value.map((element) => blankAt(element, steps, depth + 1) ?? null);
  }
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) {
    return value.map((element, index) => (index === step ? (blankAt(element, steps, depth + 1) ?? null) : element));
  }
  if (typeof step !== "string" || !Object.hasOwn(value, step)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === step ? blankAt(member, steps, depth + 1) : member]),
  );
}
