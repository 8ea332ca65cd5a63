import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { coercionTo } from "./coerce.ts";
import { compileCondition } from "./condition.ts";
import {
  mistake,
  refuse,
  type CompiledElements,
  type Evaluate,
  type ExpressionCompiler,
  type KeyPath,
  type MappingContext,
} from "./context.ts";
import { createExpressionCompiler, elementOrigin } from "./expression.ts";
import type { Scope } from "./path.ts";
import type { FieldTarget, ObjectTarget, Target } from "./target.ts";

interface CompiledFields {
  evaluate: Evaluate;
  fields: ReadonlyMap<string, Evaluate>;
}

/** `name`: place of the object in the target, such as `""` or `instances[]`. */
export function compileFields(
  spec: Json | undefined,
  target: ObjectTarget,
  at: KeyPath,
  name: string,
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
    const of = fieldTarget.target.kind;
    if (of !== "list" && (of !== "object" || !isJsonObject(expression)))
      context.fields.push({
        field: fieldName,
        kind: target.kind,
        at: [...at, field],
        expression,
        isCondition: false,
      });
    const evaluate = compileField(expression, fieldTarget, field, [...at, field], fieldName, compiler);
    const isDate = of === "instant";
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

/** Notes the zone of a local date. Items of one field must agree. */
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

function compileField(
  spec: Json | undefined,
  { target, required }: FieldTarget,
  field: string,
  at: KeyPath,
  name: string,
  compiler: ExpressionCompiler,
): Evaluate {
  const { context } = compiler;
  const inner = context.secrets.has(name)
    ? compileSecret(spec, at, compiler)
    : target.kind === "list"
      ? compileList(spec, target.variants, at, name, compiler)
      : target.kind === "object"
        ? compileObject(spec, target.object, at, name, compiler)
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
    // An empty list becomes undefined, so that a record is the same with or without a mapping for that list.
    if (context.fault === undefined) return !required && Array.isArray(value) && value.length === 0 ? undefined : value;
    const within = context.fault.field;
    context.fault.field = within === "" ? field : `${field}${within.startsWith("[") ? "" : "."}${within}`;
    return undefined;
  };
}

/** An object in a record, such as `{id: "mergedInto"}`. Left out if a required field has no value. */
function compileObject(
  spec: Json | undefined,
  target: ObjectTarget,
  at: KeyPath,
  name: string,
  compiler: ExpressionCompiler,
): Evaluate {
  const required = [...target.fields].filter(([, field]) => field.required).map(([field]) => field);
  if (isJsonObject(spec)) {
    for (const field of required)
      if (spec[field] === undefined) mistake(compiler.context, [...at, field], "missing; the field is required");
  }
  const fields = new Map([...target.fields].map(([field, { target: of }]) => [field, { target: of, required: false }]));
  const { evaluate } = compileFields(spec, { kind: target.kind, fields }, at, name, compiler);
  return (scope) => {
    const built = evaluate(scope);
    return isJsonObject(built) && required.every((field) => built[field] !== undefined) ? built : undefined;
  };
}

/** A constant that fits no record is a mistake in the mapping. */
function checkConstant(spec: Json | undefined, target: Target, at: KeyPath, compiler: ExpressionCompiler): void {
  const constant = isJsonObject(spec) ? (spec["value"] ?? spec["default"]) : undefined;
  if (constant === undefined || isWhole(target)) return;
  const { context } = compiler;
  coercionTo(target, context)(constant);
  if (context.fault === undefined) return;
  mistake(context, at, `the constant ${JSON.stringify(constant)} does not fit; expected ${context.fault.expected}`);
  context.fault = undefined;
}

function isWhole({ kind }: Target): boolean {
  return kind === "list" || kind === "money" || kind === "object";
}

/** A secret must be copied from exactly one place, so that this place can be blanked in the stored raw record. */
function compileSecret(spec: Json | undefined, at: KeyPath, compiler: ExpressionCompiler): Evaluate {
  if (typeof spec !== "string") return mistake(compiler.context, at, "is a secret; expected a plain path");
  const path = compiler.path(spec, at, { secret: true });
  if (path === undefined) return () => undefined;
  if (path.steps === undefined || path.steps.length === 0) {
    return mistake(compiler.context, at, "is a secret; expected a path to a member of the raw record");
  }
  return path.read;
}

type Append = (scope: Scope, into: Json[]) => void;

export const listEntryReference: Readonly<Record<string, string>> = {
  one: "Fields of one object: target field → expression.",
  each:
    "Path to a list, or an expression that gives one, such as `filter`; `fields` makes one object for every " +
    "element. A single object counts as a list of one. `{path: PATH, default: []}` is a list that records may lack.",
  fields: "Fields of such an object. Paths start at the element; `^.` goes to the item around it, `.` is the element.",
  kind: "Which kind of object it makes, where the list holds several (`instances`).",
  when: "A condition; where it does not hold, no object is made.",
};

/** `{one: {…}}` makes one object, `{each: LIST, fields: {…}}` one per element. `when` leaves elements out. */
function compileList(
  spec: Json | undefined,
  variants: readonly ObjectTarget[],
  at: KeyPath,
  name: string,
  compiler: ExpressionCompiler,
): Evaluate {
  const { context } = compiler;
  const single = isJsonObject(spec);
  const entries = single ? [spec] : spec;
  if (!Array.isArray(entries)) return mistake(context, at, "expected a list of {one: …} and {each: …, fields: …}");
  const appends = entries.map((entry, index) =>
    compileEntry(entry, variants, single ? at : [...at, index], `${name}[]`, compiler),
  );
  return (scope) => {
    const built: Json[] = [];
    for (const append of appends) {
      append(scope, built);
      if (context.fault === undefined) continue;
      const within = context.fault.field;
      context.fault.field = `[${built.length}]${within === "" ? "" : `.${within}`}`;
      return undefined;
    }
    return built;
  };
}

function compileEntry(
  entry: Json,
  variants: readonly ObjectTarget[],
  at: KeyPath,
  name: string,
  compiler: ExpressionCompiler,
): Append {
  const { context } = compiler;
  const nothing: Append = () => undefined;
  if (!isJsonObject(entry)) {
    mistake(context, at, "expected {one: …} or {each: …, fields: …}");
    return nothing;
  }
  const { one, each, fields, kind, when, ...others } = entry;
  for (const key of Object.keys(others))
    mistake(context, [...at, key], "unknown; expected one, each, fields, kind, when");
  if ((one === undefined) === (each === undefined) || (each === undefined) !== (fields === undefined)) {
    mistake(context, at, "expected either one, or each and fields");
    return nothing;
  }
  const written = one ?? fields;
  const variant = variantOf(variants, kind, written, at, compiler);
  if (variant === undefined) return nothing;
  for (const [key, expression] of Object.entries({ each, when }))
    if (expression !== undefined)
      context.fields.push({
        field: name.slice(0, -"[]".length),
        kind: undefined,
        at: [...at, key],
        expression,
        isCondition: true,
      });
  const list = each === undefined ? undefined : compileEach(each, [...at, "each"], compiler);
  const inside = list?.inside ?? compiler;
  const holds = when === undefined ? undefined : compileCondition(when, [...at, "when"], inside);
  const objectAt = [...at, one === undefined ? "fields" : "one"];
  const build = withKind(compileFields(written, variant, objectAt, name, inside).evaluate, variant);
  const append: Append = (scope, into) => {
    const value = holds === undefined || holds(scope) ? build(scope) : undefined;
    if (value !== undefined) into.push(value);
  };
  if (list === undefined) return append;
  return (scope, into) => {
    for (const item of list.read(scope) ?? []) {
      append({ item, parent: scope }, into);
      if (context.fault !== undefined) return;
    }
  };
}

function compileEach(each: Json, at: KeyPath, compiler: ExpressionCompiler): CompiledElements {
  if (typeof each !== "string") return compiler.elements(each, at, true);
  const { context } = compiler;
  const path = compiler.path(each, at, { goesThrough: true });
  return {
    inside: createExpressionCompiler(context, elementOrigin(compiler.origin, path?.steps)),
    read: (scope) => {
      const found = path?.read(scope);
      if (found === undefined) return undefined;
      if (typeof found !== "object" || found === null) return refuse(context, "not-a-list", found, "a list");
      return Array.isArray(found) ? found : [found];
    },
  };
}

function withKind(build: Evaluate, variant: ObjectTarget): Evaluate {
  const { kind } = variant;
  if (kind === undefined) return build;
  return (scope) => {
    const built = build(scope);
    return isJsonObject(built) ? { kind, ...built } : built;
  };
}

function variantOf(
  variants: readonly ObjectTarget[],
  kind: Json | undefined,
  written: Json | undefined,
  at: KeyPath,
  compiler: ExpressionCompiler,
): ObjectTarget | undefined {
  const kinds = variants.flatMap((variant) => variant.kind ?? []);
  if (kinds.length > 0) {
    const chosen = variants.find((variant) => variant.kind === kind);
    if (chosen === undefined) {
      mistake(
        compiler.context,
        [...at, "kind"],
        `found ${JSON.stringify(kind) ?? "nothing"}; expected one of ${kinds.join(", ")}`,
      );
    }
    return chosen;
  }
  if (kind !== undefined) mistake(compiler.context, [...at, "kind"], "unknown; elements of this list have no kind");
  const names = isJsonObject(written) ? Object.keys(written) : [];
  const fitting = variants.find((variant) => names.every((name) => variant.fields.has(name)));
  if (fitting === undefined && variants.length > 1) {
    const choices = variants.map((variant) => [...variant.fields.keys()].join(" + ")).join(", or ");
    mistake(compiler.context, at, `found the fields ${names.join(", ") || "none"}; expected ${choices}`);
    return undefined;
  }
  return fitting ?? variants[0];
}
