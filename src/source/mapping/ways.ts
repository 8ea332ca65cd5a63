import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { Stream } from "../../crm/model.ts";
import { readsOf } from "./compile.ts";
import type { MappingSpec } from "./compile.ts";
import { everyElement } from "./context.ts";
import type { KeyPath, ReadPath } from "./context.ts";
import { targetOf } from "./target.ts";
import type { ObjectTarget, Target } from "./target.ts";

/** How one target field of a mapping comes to its value. */
export interface Way {
  /** The target field: `name`, `instances[].term`. */
  field: string;
  /** Which kind of object the field is of, where its list holds several. */
  kind: string | undefined;
  /** Where the expression stands in the mapping. */
  at: KeyPath;
  expression: Json;
  /** The raw places that the expression reads. */
  reads: readonly ReadPath["steps"][];
  /** Those of which it only gives a hash. */
  hashed: readonly ReadPath["steps"][];
}

/** What the condition of a stream that leaves records out is called among the ways. */
export const skipWay = "skip";

/**
 * Each target field that a mapping fills, in the order of the mapping; before them the condition under which a record
 * is skipped, where there is one.
 */
export function waysOf(stream: Stream, spec: MappingSpec, skip?: Json): Way[] {
  const reads = readsOf(stream, spec, skip);
  const skipped: Field[] =
    skip === undefined ? [] : [{ field: skipWay, kind: undefined, at: [skipWay], expression: skip }];
  return [...skipped, ...fieldsOf(spec, targetOf(stream), [], "")].map((field) => {
    const own = reads.filter((read) => isBelow(read.at, field.at));
    const hashed = own.filter((read) => read.at.slice(field.at.length).includes("hash"));
    const stepsOf = (some: typeof own): ReadPath["steps"][] => some.map((read) => read.steps);
    return { ...field, reads: stepsOf(own), hashed: stepsOf(hashed) };
  });
}

type Field = Omit<Way, "reads" | "hashed">;

function fieldsOf(spec: JsonObject, target: ObjectTarget, at: KeyPath, name: string): Field[] {
  return Object.entries(spec).flatMap(([field, expression]): Field[] => {
    const of = target.fields.get(field)?.target;
    if (of === undefined || expression === undefined) return [];
    const written = name === "" ? field : `${name}.${field}`;
    return (
      partsOf(expression, of, [...at, field], written) ?? [
        { field: written, kind: target.kind, at: [...at, field], expression },
      ]
    );
  });
}

function partsOf(expression: Json, of: Target, at: KeyPath, name: string): Field[] | undefined {
  if (of.kind === "object") return isJsonObject(expression) ? fieldsOf(expression, of.object, at, name) : undefined;
  if (of.kind !== "list") return undefined;
  const entries = Array.isArray(expression) ? expression : [expression];
  return entries.flatMap((entry, index): Field[] => {
    if (!isJsonObject(entry)) return [];
    const written = entry["one"] ?? entry["fields"];
    if (!isJsonObject(written)) return [];
    const names = Object.keys(written);
    const variant =
      of.variants.find(({ kind }) => kind !== undefined && kind === entry["kind"]) ??
      of.variants.find(({ fields }) => names.every((field) => fields.has(field)));
    if (variant === undefined) return [];
    const entryAt = Array.isArray(expression) ? [...at, index] : at;
    return fieldsOf(written, variant, [...entryAt, entry["one"] === undefined ? "fields" : "one"], `${name}[]`);
  });
}

function isBelow(at: KeyPath, above: KeyPath): boolean {
  return above.every((step, index) => at[index] === step);
}

/** What stands at a raw place, in every element that it goes through. */
export function valuesAt(value: Json | undefined, steps: ReadPath["steps"]): Json[] {
  const [step, ...further] = steps;
  if (value === undefined) return [];
  if (step === undefined) return [value];
  if (step === everyElement) return (Array.isArray(value) ? value : [value]).flatMap((item) => valuesAt(item, further));
  if (Array.isArray(value)) return typeof step === "number" ? valuesAt(value[step], further) : [];
  return isJsonObject(value) && Object.hasOwn(value, step) ? valuesAt(value[String(step)], further) : [];
}

/** What a canonical record has in the field of a way; of a list, in each object of its kind. */
export function givenBy({ field, kind }: Pick<Way, "field" | "kind">, record: JsonObject): Json[] {
  let found: Json[] = [record];
  const parts = field.split(".");
  for (const [index, part] of parts.entries()) {
    const isList = part.endsWith("[]");
    const name = isList ? part.slice(0, -2) : part;
    const isLast = index === parts.length - 1;
    found = found.flatMap((item): Json[] => {
      if (!isJsonObject(item)) return [];
      // `kind` is that of the objects which the field is a member of.
      if (isLast && kind !== undefined && item["kind"] !== kind) return [];
      const value = item[name];
      if (value === undefined) return [];
      return isList && Array.isArray(value) ? value : [value];
    });
  }
  return found;
}
