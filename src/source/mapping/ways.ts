import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { privateFields, type Stream } from "../../crm/model.ts";
import { partsOf, type MappingSpec } from "./compile.ts";
import type { FilledField, KeyPath, ReadPath } from "./context.ts";
import { everyElement } from "./path.ts";

/** How one target field of a mapping comes to its value. */
export interface Way extends FilledField {
  /** The raw places that the expression reads. */
  reads: readonly ReadPath["steps"][];
  /** Those of which it only gives a hash. */
  hashed: readonly ReadPath["steps"][];
  /** Conditions and lists that decide whether something is made, unless the mapping says what their absence means. */
  deciding: readonly ReadPath["steps"][];
}

/** What the condition of a stream that leaves records out is called among the ways. */
export const skipWay = "skip";

/**
 * Each target field that a mapping fills, in the order of the mapping; before them the condition under which a record
 * is skipped, where there is one. `when` and `each` of a list are ways of the field that holds the list.
 */
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

/** Whether something is made or not by what is read there: it is read by a condition, or is a list to go through. */
function decides({ at, goesThrough }: ReadPath): boolean {
  return goesThrough || at[0] === skipWay || at.some((key) => key === "when" || key === "where");
}

/** Whether a mapping says what it means that nothing is there: by `present`, `default`, or another choice of `first`. */
function isAbsenceMeant(spec: Json, at: KeyPath): boolean {
  let around: Json | undefined = spec;
  for (const [index, key] of at.entries()) {
    if (isJsonObject(around)) {
      // The `default` inside `lookup` is for a key that the table lacks.
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

/** Ids stand in every message, so what they are made of is shown. */
const idFields: ReadonlySet<string> = new Set(["namespace", "id", "customerNamespace", "customerId"]);

/**
 * The raw places of a stream that anybody may see: those that the mapping reads for fields which are not private, and
 * for no private one. What no mapping reads may hold anything. `named` says how places are written.
 */
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

/** The raw places that the mapping reads for private fields, or to give their hash. */
export function hiddenPlaces(
  stream: Stream,
  ways: readonly Way[],
  named: (steps: Way["reads"][number]) => string,
): Set<string> {
  return new Set(ways.flatMap((way) => (isPrivate(stream, way) ? way.reads : way.hashed).map(named)));
}

/** What a way reads, but for what it only gives a hash of. */
export function inClear({ reads, hashed }: Way): Way["reads"] {
  return reads.filter((steps) => !hashed.includes(steps));
}

function isPrivate(stream: Stream, { at }: Way): boolean {
  return privateFields[stream].includes(String(at[0]));
}

function isId({ at }: Way): boolean {
  return idFields.has(String(at[0]));
}
