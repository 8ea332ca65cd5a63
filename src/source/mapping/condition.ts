import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { mistake } from "./context.ts";
import type { KeyPath, MappingContext, ExpressionCompiler } from "./context.ts";
import type { Scope } from "./path.ts";

/** Words that stand for something, compared as text, so that 1 and "1" are the same. */
export function wordsOf(value: Json | undefined, at: KeyPath, context: MappingContext): Set<string> {
  const words = Array.isArray(value) ? value : [value];
  if (!words.every((word) => typeof word === "string" || typeof word === "number" || typeof word === "boolean")) {
    mistake(context, at, "expected a text, number or boolean, or a list of them");
  }
  return new Set(words.map(String));
}

/** The tests of a condition, for the reference; its test runs the examples. */
export const conditionReference: readonly { key: string; holds: string; examples: readonly ConditionExample[] }[] = [
  {
    key: "equals",
    holds: 'The value is this one, compared as text: 1 and `"1"` are the same. Nothing is there: it does not hold.',
    examples: [
      { condition: { path: "active", equals: 1 }, record: { active: "1" }, holds: true },
      { condition: { path: "active", equals: 1 }, record: { active: null }, holds: false },
    ],
  },
  {
    key: "in",
    holds: "The value is one of a list, compared as text.",
    examples: [{ condition: { path: "country", in: ["DE", "AT"] }, record: { country: "FR" }, holds: false }],
  },
  {
    key: "present",
    holds: "`true`: there is a value; `false`: there is none.",
    examples: [{ condition: { path: "ended", present: false }, record: { ended: "" }, holds: true }],
  },
];

interface ConditionExample {
  condition: Json;
  record: JsonObject;
  holds: boolean;
}

/** `{path: …, equals: …}`, `{path: …, in: […]}` or `{path: …, present: true}`; values are compared as text. */
export function compileCondition(
  spec: Json | undefined,
  at: KeyPath,
  compiler: ExpressionCompiler,
): (scope: Scope) => boolean {
  const { context } = compiler;
  const never = (): boolean => false;
  if (!isJsonObject(spec)) {
    mistake(context, at, "expected a condition such as {path: …, equals: …}");
    return never;
  }
  const { path: subject, equals, in: among, present, ...others } = spec;
  for (const key of Object.keys(others)) mistake(context, [...at, key], "unknown; expected path, equals, in, present");
  if ([equals, among, present].filter((test) => test !== undefined).length !== 1) {
    mistake(context, at, "expected exactly one of equals, in, present");
    return never;
  }
  const inner = compiler.expression(subject, [...at, "path"]);
  if (present !== undefined) {
    if (typeof present !== "boolean") mistake(context, [...at, "present"], "expected true or false");
    return (scope) => (inner(scope) !== undefined) === present;
  }
  const words = wordsOf(equals ?? among, [...at, equals === undefined ? "in" : "equals"], context);
  return (scope) => {
    const found = inner(scope);
    return found !== undefined && typeof found !== "object" && words.has(String(found));
  };
}
