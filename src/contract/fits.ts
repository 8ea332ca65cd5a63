import { z } from "zod";
import { isJsonObject } from "../base/canonical-json.ts";

type Test = (value: unknown) => boolean;

/** True only if the schema would return an equal value. Much faster than parsing. After false, ask the schema. */
export function fits<Schema extends z.core.$ZodType>(schema: Schema, value: unknown): value is z.output<Schema> {
  return testOf(schema)(value);
}

/** Like `schema.safeParse`, and as fast as `fits` if the value fits. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { success: true; data: z.output<Schema> } | { success: false; error: z.ZodError } {
  return fits(schema, value) ? { success: true, data: value } : schema.safeParse(value);
}

const tests = new WeakMap<z.core.$ZodType, Test>();

/** Names the values that a transforming schema returns as they are. */
export function unchanged<Schema extends z.core.$ZodType>(schema: Schema, as: z.core.$ZodType | Test): Schema {
  tests.set(schema, typeof as === "function" ? as : (value) => testOf(as)(value));
  return schema;
}

function testOf(schema: z.core.$ZodType): Test {
  const known = tests.get(schema);
  if (known !== undefined) return known;
  const kind = kindTest(schema);
  const checks = (schema._zod.def.checks ?? []).map(checkTest);
  const test = checks.reduce(both, kind);
  tests.set(schema, test);
  return test;
}

const never: Test = () => false;
const isNull: Test = (value) => value === null;
const isText: Test = (value) => typeof value === "string";
const isBoolean: Test = (value) => typeof value === "boolean";

function kindTest(schema: z.core.$ZodType): Test {
  if (schema instanceof z.ZodString) return isCoercedOrOfAFormat(schema) ? never : isText;
  if (schema instanceof z.ZodNumberFormat) return schema.format === "safeint" ? Number.isSafeInteger : never;
  if (schema instanceof z.ZodNumber) return isCoercedOrOfAFormat(schema) ? never : Number.isFinite;
  if (schema instanceof z.ZodNull) return isNull;
  if (schema instanceof z.ZodUnknown) return () => true;
  if (schema instanceof z.ZodBoolean) return isCoercedOrOfAFormat(schema) ? never : isBoolean;
  if (schema instanceof z.ZodLiteral || schema instanceof z.ZodEnum) {
    const values: ReadonlySet<unknown> = schema._zod.values;
    return (value) => values.has(value);
  }
  if (schema instanceof z.ZodNullable) return either(isNull, testOf(schema.unwrap()));
  if (schema instanceof z.ZodExactOptional) return never;
  if (schema instanceof z.ZodOptional)
    return isFilledIn(schema) ? never : either((value) => value === undefined, testOf(schema.unwrap()));
  if (schema instanceof z.ZodXor) return never;
  if (schema instanceof z.ZodUnion) return unionTest(schema);
  if (schema instanceof z.ZodLazy) return (value) => testOf(schema.unwrap())(value);
  if (schema instanceof z.ZodArray) return listTest(schema.element);
  return schema instanceof z.ZodObject ? membersTest(schema) : never;
}

function isCoercedOrOfAFormat({ _zod: { def } }: z.ZodString | z.ZodNumber | z.ZodBoolean): boolean {
  return def.coerce === true || ("format" in def && def.format !== undefined);
}

function isFilledIn(schema: z.core.$ZodType): boolean {
  return schema._zod.optin === "defaulted";
}

/** The first option that accepts a value may change it, so all but the last must only accept or reject. */
function unionTest(schema: z.ZodUnion): Test {
  const { options } = schema;
  const isPlain = schema instanceof z.ZodDiscriminatedUnion || options.slice(0, -1).every(takesOnlyAsItIs);
  return isPlain ? options.map(testOf).reduce(either) : never;
}

const leaves = [z.ZodString, z.ZodNumber, z.ZodBoolean, z.ZodNull, z.ZodLiteral, z.ZodEnum];

function takesOnlyAsItIs(schema: z.core.$ZodType): boolean {
  if (!leaves.some((leaf) => schema instanceof leaf) || kindTest(schema) === never) return false;
  return (schema._zod.def.checks ?? []).every((check) => checkTest(check) !== never);
}

function either(one: Test, other: Test): Test {
  return (value) => one(value) || other(value);
}

function both(one: Test, other: Test): Test {
  return (value) => one(value) && other(value);
}

function listTest(element: z.core.$ZodType): Test {
  const test = testOf(element);
  return (value) => {
    if (!Array.isArray(value)) return false;
    for (let index = 0; index < value.length; index += 1) if (!test(value[index])) return false;
    return true;
  };
}

interface Member {
  test: Test;
  isRequired: boolean;
}

const mostRemembered = 64;

const anyOther: Member = { test: () => true, isRequired: false };

/** Members are read at first use: an object may contain its own kind. */
function membersTest(schema: z.ZodObject): Test {
  const others = schema.def.catchall instanceof z.ZodUnknown ? anyOther : undefined;
  let members: ReadonlyMap<string, Member> | undefined;
  let required = 0;
  // Members of the last object. The next one mostly has the same in the same order.
  const lastNames: string[] = [];
  const lastMembers: Member[] = [];
  return (value) => {
    if (!isJsonObject(value)) return false;
    if (members === undefined) {
      members = membersOf(schema);
      required = [...members.values()].filter((member) => member.isRequired).length;
    }
    let met = 0;
    let place = 0;
    for (const name in value) {
      let member = lastNames[place] === name ? lastMembers[place] : undefined;
      if (member === undefined) {
        member = members.get(name) ?? others;
        if (member === undefined || name === "__proto__") return false;
        if (place < mostRemembered) {
          lastNames[place] = name;
          lastMembers[place] = member;
        }
      }
      if (!member.test(value[name])) return false;
      if (member.isRequired) met += 1;
      place += 1;
    }
    return met === required;
  };
}

function membersOf(schema: z.ZodObject): Map<string, Member> {
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  return new Map(
    Object.entries(shape).map(([name, member]) => [
      name,
      { test: testOf(member), isRequired: !(member instanceof z.ZodOptional) || isFilledIn(member) },
    ]),
  );
}

function checkTest(check: z.core.$ZodCheck): Test {
  if (check instanceof z.core.$ZodCheckMinLength) {
    const { minimum } = check._zod.def;
    return (value) => (typeof value === "string" || Array.isArray(value)) && value.length >= minimum;
  }
  if (check instanceof z.core.$ZodCheckMaxLength) {
    const { maximum } = check._zod.def;
    return (value) => (typeof value === "string" || Array.isArray(value)) && value.length <= maximum;
  }
  if (check instanceof z.core.$ZodCheckGreaterThan) {
    const { value: least, inclusive } = check._zod.def;
    return (value) => typeof value === "number" && (inclusive ? value >= Number(least) : value > Number(least));
  }
  if (check instanceof z.core.$ZodCheckLessThan) {
    const { value: most, inclusive } = check._zod.def;
    return (value) => typeof value === "number" && (inclusive ? value <= Number(most) : value < Number(most));
  }
  if (check instanceof z.core.$ZodCheckRegex) {
    const { pattern } = check._zod.def;
    return pattern.global || pattern.sticky ? never : (value) => typeof value === "string" && pattern.test(value);
  }
  if (!(check instanceof z.ZodCustom)) return never;
  const { fn } = check._zod.def;
  return (value) => fn(value) === true;
}
