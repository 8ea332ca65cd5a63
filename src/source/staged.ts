import { isJsonObject } from "../base/canonical-json.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { parseJson } from "./json.ts";
import type { RecordLimits } from "./limits.ts";

/** A row that was staged, as it was. */
export function parseStaged(text: string, limits: RecordLimits): JsonObject {
  const parsed = parseJson(text, limits);
  if (!parsed.ok || !isJsonObject(parsed.value)) {
    throw new TypeError("the staging area gave back a row that was not put into it");
  }
  return parsed.value;
}

export function* batchesOf<T>(items: Iterable<T>, size: number): Generator<T[], void, void> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
