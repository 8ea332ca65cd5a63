import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { privateFields, type Stream } from "../../crm/model.ts";
import { partsOf, type MappingSpec } from "./compile.ts";
import type { FilledField, KeyPath, ReadPath } from "./context.ts";
import { everyElement } from "./path.ts";

export interface Way extends FilledField {
  reads: readonly ReadPath["steps"][];
  /** Places of `reads` that appear only as a hash. */
  hashed: readonly ReadPath["steps"][];
  /** Places that decide whether an object is made, without those whose absence the mapping handles. */
  deciding: readonly ReadPath["steps"][];
}

export const skipWay = "skip";

/** In the order of the mapping, then `skip`. `when` and `each` belong to the field of the list. */
export function waysOf(stream: Stream, spec: MappingSpec, skip?: Json): Way[] {
  const { reads, fields } = partsOf(stream, spec, skip);
  const skipped: FilledField[] =
    skip === undefined ? [] : [{ field: skipWay, kind: undefined, at: [skipWay], expression: skip, isCondition: true }];
  const whole: JsonObject = skip === undefined ? spec : { ...spec, [skipWay]: skip };
  return [...skipped, ...fields].map((field) => {
    const own = reads.filter((read) => isBelow(read.at, field.at));
    const hashed = own.filter((read) => read.at.slice(field.at.length).includes("hash"));
    const deciding = own.filter((read) => decides(read) && !isAbsenceMeant(whole, read.at));
    const stepsOf = (some: typeof own): ReadPath["steps"][] => some.map((read) => read.steps);
    return { ...field, reads: stepsOf(own), hashed: stepsOf(hashed), deciding: stepsOf(deciding) };
  });
}

/** A condition reads it, or it is a list to go through: it decides whether an object is made. */
function decides({ at, goesThrough }: ReadPath): boolean {
  return goesThrough || at[0] === skipWay || at.some((key) => key === "when" || key === "where");
}

/** Whether the mapping handles a missing value: by `present`, `default`, or another choice of `first`. */
function isAbsenceMeant(spec: Json, at: KeyPath): boolean {
  let around: Json | undefined = spec;
  for (const [index, key] of at.entries()) {
    if (isJsonObject(around)) {
      // A `default` inside `lookup` is for a key that is missing in the table.
      if (around["default"] !== undefined && at[index - 1] !== "lookup") return true;
      if (key === "first" || (key === "path" && around["present"] !== undefined)) return true;
      around = around[key];
    } else around = Array.isArray(around) && typeof key === "number" ? around[key] : undefined;
  }
  return false;
}

function isBelow(at: KeyPath, above: KeyPath): boolean {
  return above.every((step, index) => at[index] === step);
}

export function valuesAt(value: Json | undefined, steps: ReadPath["steps"]): Json[] {
  const [step, ...further] = steps;
  if (value === undefined) return [];
  if (step === undefined) return [value];
  if (step === everyElement) return (Array.isArray(value) ? value : [value]).flatMap((item) => valuesAt(item, further));
  if (Array.isArray(value)) return typeof step === "number" ? valuesAt(value[step], further) : [];
  return isJsonObject(value) && Object.hasOwn(value, step) ? valuesAt(value[String(step)], further) : [];
}

/** In a list: of each object of its kind. */
export function givenBy({ field, kind }: Pick<Way, "field" | "kind">, record: JsonObject): Json[] {
  let found: Json[] = [record];
  const parts = field.split(".");
  for (const [index, part] of parts.entries()) {
    const isList = part.endsWith("[]");
    const name = isList ? part.slice(0, -2) : part;
    const isLast = index === parts.length - 1;
    found = found.flatMap((item): Json[] => {
      if (!isJsonObject(item)) return [];
      // `kind` is the kind of the object that has the field.
      if (isLast && kind !== undefined && item["kind"] !== kind) return [];
      const value = item[name];
      if (value === undefined) return [];
      return isList && Array.isArray(value) ? value : [value];
    });
  }
  return found;
}

/** Messages contain ids, so the places they come from are not private. */
const idFields: ReadonlySet<string> = new Set(["namespace", "id", "customerNamespace", "customerId"]);

/** Places mapped to an id, or only to fields that are not private. Unmapped places may hold anything. */
export function openPlaces(
  stream: Stream,
  ways: readonly Way[],
  named: (steps: Way["reads"][number]) => string,
): Set<string> {
  const hidden = hiddenPlaces(stream, ways, named);
  const open = new Set<string>();
  for (const way of ways.filter(({ isCondition }) => !isCondition))
    for (const place of inClear(way).map(named)) if (isId(way) || !hidden.has(place)) open.add(place);
  return open;
}

/** Raw places that are mapped to private fields or hashed. */
export function hiddenPlaces(
  stream: Stream,
  ways: readonly Way[],
  named: (steps: Way["reads"][number]) => string,
): Set<string> {
  return new Set(ways.flatMap((way) => (isPrivate(stream, way) ? way.reads : way.hashed).map(named)));
}

export function inClear({ reads, hashed }: Way): Way["reads"] {
  return reads.filter((steps) => !hashed.includes(steps));
}

function isPrivate(stream: Stream, { at }: Way): boolean {
  return privateFields[stream].includes(String(at[0]));
}

function isId({ at }: Way): boolean {
  return idFields.has(String(at[0]));
}
