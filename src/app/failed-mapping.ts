import { isJsonObject } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import { toJson } from "../base/canonical-json.ts";
import { hiddenSecret } from "../base/known-secrets.ts";
import type { QuarantineFacts } from "../report/facts.ts";
import type { Application } from "./application.ts";

/** What the mapping of now says of a field, and where it stands. */
export interface FailedMapping {
  /** `sources.erp.streams.orders.mapping.amount`. */
  key: string;
  place: string | undefined;
  expression: Json;
}

/**
 * The part of the mapping that a row in quarantine failed at: that of its field, or of the nearest thing around it.
 * Undefined where its stream is not configured any more, or has no mapping of its own.
 */
export function failedMapping(
  application: Pick<Application, "config" | "writtenAt" | "secrets">,
  { source, stream, field }: Pick<QuarantineFacts, "source" | "stream" | "field">,
): FailedMapping | undefined {
  const { sources } = application.config;
  const settings: Json = Object.hasOwn(sources, source) ? toJson(sources[source]) : null;
  const path = ["streams", stream, "mapping"];
  const mapping = path.reduce<Json>((value, step) => memberOf(value, step) ?? null, settings);
  if (mapping === null) return undefined;
  const found = nearest(
    mapping,
    field.split(/[.[\]]+/u).filter((step) => step !== "" && !/^\d+$/u.test(step)),
  );
  const way = ["sources", source, ...path, ...found.path];
  return {
    key: way.join("."),
    place: application.writtenAt(way),
    expression: withoutSalts(application.secrets.known.tree(found.value)),
  };
}

/** With the salt of an id, who may not see logins or addresses could try which of them are known. */
function withoutSalts(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSalts);
  if (!isJsonObject(value)) return value;
  const isHash = Object.hasOwn(value, "hash");
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isHash && name === "salt" ? hiddenSecret : withoutSalts(member ?? null),
    ]),
  );
}

/** As deep as the names of the field lead; what an operator has around them is gone through. */
function nearest(mapping: Json, steps: readonly string[]): { value: Json; path: string[] } {
  let value = mapping;
  const path: string[] = [];
  for (const step of steps) {
    const next = memberOf(value, step);
    const inner = next === undefined ? insideOperator(value, step) : { value: next, path: [step] };
    if (inner === undefined) break;
    ({ value } = inner);
    path.push(...inner.path);
  }
  return { value, path };
}

function insideOperator(value: Json, step: string): { value: Json; path: string[] } | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = memberOf(member ?? null, step);
    if (found !== undefined) return { value: found, path: [name, step] };
  }
  return undefined;
}

function memberOf(value: Json, step: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
