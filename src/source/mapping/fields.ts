import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { coercionTo } from "./coerce.ts";
import { mistake, refuse } from "./context.ts";
import type { Evaluate, KeyPath, ExpressionCompiler } from "./context.ts";
import { compileList } from "./lists.ts";
import type { FieldTarget, ObjectTarget, Target } from "./target.ts";

export interface CompiledFields {
  evaluate: Evaluate;
  fields: ReadonlyMap<string, Evaluate>;
}

/** Compiles the fields of one object. `name` is the object's own place in the target: `""`, `instances[]`. */
export function compileFields(
  spec: Json | undefined,
  target: ObjectTarget,
  at: KeyPath,
  name: string,
  secrets: ReadonlySet<string>,
  compiler: ExpressionCompiler,
): CompiledFields {
  const { context } = compiler;
  const fields = new Map<string, Evaluate>();
  if (!isJsonObject(spec)) {
    return { evaluate: mistake(context, at, "expected an object: target field → expression"), fields };
  }
  for (const [field, expression] of Object.entries(spec)) {
    if (expression === undefined) continue;
    const fieldTarget = target.fields.get(field);
    if (fieldTarget === undefined) {
      mistake(context, [...at, field], `unknown target field; expected one of ${[...target.fields.keys()].join(", ")}`);
      continue;
    }
    const fieldName = name === "" ? field : `${name}.${field}`;
    fields.set(field, compileField(expression, fieldTarget, field, [...at, field], fieldName, secrets, compiler));
  }
  for (const [field, { required }] of target.fields) {
    if (required && !fields.has(field)) mistake(context, [...at, field], "missing; the field is required");
  }
  const parts = [...fields].map(([field, evaluate]) => ({ field, evaluate }));
  return {
    fields,
    evaluate: (scope) => {
      const built: JsonObject = {};
      for (const { field, evaluate } of parts) {
        const value = evaluate(scope);
        if (context.fault !== undefined) return undefined;
        if (value !== undefined) built[field] = value;
      }
      return built;
    },
  };
}

function compileField(
  spec: Json | undefined,
  { target, required }: FieldTarget,
  field: string,
  at: KeyPath,
  name: string,
  secrets: ReadonlySet<string>,
  compiler: ExpressionCompiler,
): Evaluate {
  const { context } = compiler;
  const inner = secrets.has(name)
    ? compileSecret(spec, at, compiler)
    : target.kind === "list"
      ? compileList(spec, target.variants, at, name, secrets, compiler, compileFields)
      : compiler.expression(spec, at);
  checkConstant(spec, target, at, compiler);
  const dated =
    target.kind === "instant" && isJsonObject(spec) && spec["date"] !== undefined && spec["default"] === undefined;
  const coerce = dated ? (value: Json) => value : coercionTo(target, context);
  return (scope) => {
    let value = inner(scope);
    if (value !== undefined && context.fault === undefined) value = coerce(value);
    else if (value === undefined && required && context.fault === undefined) {
      refuse(context, "missing", undefined, "a value; the field is required");
    }
    if (context.fault === undefined) return value;
    const within = context.fault.field;
    context.fault.field = within === "" ? field : `${field}${within.startsWith("[") ? "" : "."}${within}`;
    return undefined;
  };
}

/** A constant that no record could make fit is a mistake in the mapping. */
function checkConstant(spec: Json | undefined, target: Target, at: KeyPath, compiler: ExpressionCompiler): void {
  const constant = isJsonObject(spec) ? (spec["value"] ?? spec["default"]) : undefined;
  if (constant === undefined || target.kind === "list" || target.kind === "money") return;
  const { context } = compiler;
  coercionTo(target, context)(constant);
  if (context.fault === undefined) return;
  mistake(context, at, `the constant ${JSON.stringify(constant)} does not fit; expected ${context.fault.expected}`);
  context.fault = undefined;
}

/**
 * A secret is copied from one place and nothing else, so that this place can be blanked in what is kept of the raw
 * record.
 */
function compileSecret(spec: Json | undefined, at: KeyPath, compiler: ExpressionCompiler): Evaluate {
  if (typeof spec !== "string") return mistake(compiler.context, at, "is a secret; expected a plain path");
  const path = compiler.path(spec, at, true);
  if (path === undefined) return () => undefined;
  if (path.steps === undefined || path.steps.length === 0) {
    return mistake(compiler.context, at, "is a secret; expected a path to a member of the raw record");
  }
  return path.read;
}
