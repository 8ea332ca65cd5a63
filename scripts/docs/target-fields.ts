import { z } from "zod";

/** One field that a mapping may fill. */
export interface TargetField {
  /** `instances<asset>[].quantity`. */
  name: string;
  type: string;
  required: boolean;
  default: string | undefined;
  description: string;
}

/** Every field of a canonical record, with those of the objects in its lists. */
export function fieldsOf(schema: z.ZodObject, prefix = ""): TargetField[] {
  const members: Record<string, z.core.$ZodType> = schema.shape;
  return Object.entries(members).flatMap(([name, member]): TargetField[] => {
    const { inner, required, standard, description } = unwrap(member);
    if (inner instanceof z.ZodLiteral) return [];
    const full = `${prefix}${name}`;
    const own = { name: full, type: typeOf(inner), required, default: standard, description: description ?? "" };
    const inside = isPlainObject(inner) ? fieldsOf(inner, `${full}.`) : [];
    return [
      own,
      ...inside,
      ...elementsOf(inner).flatMap(([label, element], _index, all) =>
        fieldsOf(element, `${full}${label}[].`).map((field) => (label === "" ? oneOf(field, all.length) : field)),
      ),
    ];
  });
}

/** Of objects of several forms without a kind, each field is required in its own form alone. */
function oneOf(field: TargetField, forms: number): TargetField {
  if (forms < 2) return field;
  return {
    ...field,
    required: false,
    description: `${field.description} Exactly one of these ${forms} fields is required.`,
  };
}

/** An object that a mapping fills field by field; money is made by an operator. */
function isPlainObject(schema: z.core.$ZodType): schema is z.ZodObject {
  return schema instanceof z.ZodObject && !("minor" in schema.shape);
}

function elementsOf(schema: z.core.$ZodType): [string, z.ZodObject][] {
  if (!(schema instanceof z.ZodArray)) return [];
  const element: z.core.$ZodType = schema.element;
  const options = element instanceof z.ZodUnion ? element.options : [element];
  return options.flatMap((option): [string, z.ZodObject][] => {
    if (!(option instanceof z.ZodObject)) return [];
    const kind: unknown = option.shape["kind"];
    return [[kind instanceof z.ZodLiteral ? `<${String(kind.value)}>` : "", option]];
  });
}

interface Unwrapped {
  inner: z.core.$ZodType;
  required: boolean;
  standard: string | undefined;
  description: string | undefined;
}

function unwrap(schema: z.core.$ZodType): Unwrapped {
  const description = z.globalRegistry.get(schema)?.description;
  if (!(schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)) {
    return { inner: schema, required: true, standard: undefined, description };
  }
  const inner = unwrap(schema.unwrap());
  return {
    inner: inner.inner,
    required: false,
    standard: schema instanceof z.ZodDefault ? JSON.stringify(schema.def.defaultValue) : inner.standard,
    description: description ?? inner.description,
  };
}

function typeOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodISODateTime) return "instant";
  if (schema instanceof z.ZodString) return `text${bounds(schema.minLength, schema.maxLength, " characters")}`;
  if (schema instanceof z.ZodEnum) return `word: ${schema.options.map(String).join(", ")}`;
  if (schema instanceof z.ZodNumber) return `integer${bounds(schema.minValue, schema.maxValue, "")}`;
  if (schema instanceof z.ZodBoolean) return "boolean";
  if (schema instanceof z.ZodArray) return schema.element instanceof z.ZodString ? "texts" : "list of objects";
  return isPlainObject(schema) ? "object" : "money";
}

function bounds(least: number | null, most: number | null, unit: string): string {
  const open = (bound: number | null): boolean => bound === null || Math.abs(bound) >= Number.MAX_SAFE_INTEGER;
  if (!open(most)) return `, ${least ?? 0} to ${most}${unit}`;
  return open(least) || (least === 1 && unit !== "") ? "" : `, at least ${least}${unit}`;
}
