import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { coercionTo } from "./coerce.ts";
import { mistake, refuse } from "./context.ts";
import type { Evaluate, KeyPath, ExpressionCompiler, MappingContext } from "./context.ts";
import { takenBy } from "./kinds.ts";
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
      const names = [...target.fields.keys()];
      mistake(context, [...at, field], `unknown target field; expected one of ${names.join(", ")}`, names);
      continue;
    }
    const fieldName = name === "" ? field : `${name}.${field}`;
    const evaluate = compileField(expression, fieldTarget, field, [...at, field], fieldName, secrets, compiler);
    const isDate = fieldTarget.target.kind === "instant";
    const dateName = target.kind === undefined ? fieldName : `${target.kind}.${field}`;
    fields.set(field, isDate ? notingZone(evaluate, dateName, context) : evaluate);
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
        if (context.fault !== undefined) {
          if (!context.leavesOutFaults) return undefined;
          context.fault = undefined;
          continue;
        }
        if (value !== undefined) built[field] = value;
      }
      return built;
    },
  };
}

/** Notes in which zone a date was local; one field may be of many items, which have to agree. */
function notingZone(evaluate: Evaluate, name: string, context: MappingContext): Evaluate {
  const { zones } = context;
  return (scope) => {
    context.localIn = undefined;
    const value = evaluate(scope);
    if (value === undefined) return value;
    const [zone, known] = [context.localIn ?? null, zones.get(name)];
    zones.set(name, known === undefined || known === zone ? zone : null);
    return value;
  };
}

function isNothing(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
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
      : target.kind === "object"
        ? compileObject(spec, target.object, at, name, secrets, compiler)
        : compiler.expression(spec, at, isConstant(spec) ? undefined : takenBy(target));
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
    // A list of nothing is no list: a record reads the same whether a mapping looks for such a list or not.
    if (context.fault === undefined) return !required && isNothing(value) ? undefined : value;
    const within = context.fault.field;
    context.fault.field = within === "" ? field : `${field}${within.startsWith("[") ? "" : "."}${within}`;
    return undefined;
  };
}

/** An object in a record: `{id: "mergedInto"}`. It is left out if one of its required fields has no value. */
function compileObject(
  spec: Json | undefined,
  target: ObjectTarget,
  at: KeyPath,
  name: string,
  secrets: ReadonlySet<string>,
  compiler: ExpressionCompiler,
): Evaluate {
  const required = [...target.fields].filter(([, field]) => field.required).map(([field]) => field);
  if (isJsonObject(spec)) {
    for (const field of required)
      if (spec[field] === undefined) mistake(compiler.context, [...at, field], "missing; the field is required");
  }
  const fields = new Map([...target.fields].map(([field, { target: of }]) => [field, { target: of, required: false }]));
  const { evaluate } = compileFields(spec, { kind: target.kind, fields }, at, name, secrets, compiler);
  return (scope) => {
    const built = evaluate(scope);
    return isJsonObject(built) && required.every((field) => built[field] !== undefined) ? built : undefined;
  };
}

/** A constant is checked by its value, which says more. */
function isConstant(spec: Json | undefined): boolean {
  return isJsonObject(spec) && spec["value"] !== undefined;
}

/** A constant that no record could make fit is a mistake in the mapping. */
function checkConstant(spec: Json | undefined, target: Target, at: KeyPath, compiler: ExpressionCompiler): void {
  const constant = isJsonObject(spec) ? (spec["value"] ?? spec["default"]) : undefined;
  if (constant === undefined || isWhole(target)) return;
  const { context } = compiler;
  coercionTo(target, context)(constant);
  if (context.fault === undefined) return;
  mistake(context, at, `the constant ${JSON.stringify(constant)} does not fit; expected ${context.fault.expected}`);
  context.fault = undefined;
}

/** What is not made of one value. */
function isWhole({ kind }: Target): boolean {
  return kind === "list" || kind === "money" || kind === "object";
}

/**
 * A secret is copied from one place and nothing else, so that this place can be blanked in what is kept of the raw
 * record.
 */
function compileSecret(spec: Json | undefined, at: KeyPath, compiler: ExpressionCompiler): Evaluate {
  if (typeof spec !== "string") return mistake(compiler.context, at, "is a secret; expected a plain path");
  const path = compiler.path(spec, at, { secret: true });
  if (path === undefined) return () => undefined;
  if (path.steps === undefined || path.steps.length === 0) {
    return mistake(compiler.context, at, "is a secret; expected a path to a member of the raw record");
  }
  return path.read;
}
