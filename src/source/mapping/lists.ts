import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import { mistake, refuse } from "./context.ts";
import type { CompiledElements, Evaluate, KeyPath, ExpressionCompiler, MappingContext } from "./context.ts";
import { createExpressionCompiler, elementOrigin } from "./expression.ts";
import { compileCondition } from "./condition.ts";
import type { Holds } from "./condition.ts";
import type { Scope } from "./path.ts";
import type { ObjectTarget } from "./target.ts";

/** Adds the objects of one entry to the list; stops at the first fault. */
type Append = (scope: Scope, into: Json[]) => void;

/** Compiles the fields of one object of the list. */
export type CompileObject = (
  spec: Json | undefined,
  target: ObjectTarget,
  at: KeyPath,
  name: string,
  secrets: ReadonlySet<string>,
  compiler: ExpressionCompiler,
) => { evaluate: Evaluate };

/** The keys of an entry of a list of objects, for the reference. */
export const listEntryReference: Readonly<Record<string, string>> = {
  one: "Fields of one object: target field → expression.",
  each:
    "Path to a list, or an expression that gives one, such as `filter`; `fields` makes one object for every " +
    "element. A single object counts as a list of one. `{path: PATH, default: []}` is a list that records may lack.",
  fields: "Fields of such an object. Paths start at the element; `^.` goes to the item around it, `.` is the element.",
  kind: "Which kind of object it makes, where the list holds several (`instances`).",
  when: "A condition; where it does not hold, no object is made.",
};

/**
 * Compiles a list of objects. It is written as entries that follow each other: `{one: {fields}}` makes one object,
 * `{each: LIST, fields: {…}}` one for every element there (a single object counts as a list of one); `kind` chooses the
 * variant, `when` leaves elements out. Inside `each` a path starts at the element, and `^.` goes to the item around it.
 */
export function compileList(
  spec: Json | undefined,
  variants: readonly ObjectTarget[],
  at: KeyPath,
  name: string,
  secrets: ReadonlySet<string>,
  compiler: ExpressionCompiler,
  compileObject: CompileObject,
): Evaluate {
  const { context } = compiler;
  const single = isJsonObject(spec);
  const entries = single ? [spec] : spec;
  if (!Array.isArray(entries)) return mistake(context, at, "expected a list of {one: …} and {each: …, fields: …}");
  const appends = entries.map((entry, index) =>
    compileEntry(entry, variants, single ? at : [...at, index], `${name}[]`, secrets, compiler, compileObject),
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
  secrets: ReadonlySet<string>,
  compiler: ExpressionCompiler,
  compileObject: CompileObject,
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
  const objectAt = [...at, one === undefined ? "fields" : "one"];

  if (each === undefined) {
    const holds = when === undefined ? undefined : compileCondition(when, [...at, "when"], compiler);
    const build = withKind(compileObject(written, variant, objectAt, name, secrets, compiler).evaluate, variant);
    return (scope, into) => {
      if ((holds !== undefined && !holds(scope)) || context.fault !== undefined) return;
      const value = build(scope);
      if (value !== undefined) into.push(value);
    };
  }

  const list = compileEach(each, [...at, "each"], compiler);
  const holds = when === undefined ? undefined : compileCondition(when, [...at, "when"], list.inside);
  const build = withKind(compileObject(written, variant, objectAt, name, secrets, list.inside).evaluate, variant);
  return appendEach(list.read, holds, build, context);
}

/** The elements at a path or of an expression; a single object counts as a list of one. */
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

/** One object for every element of a list. */
function appendEach(
  read: CompiledElements["read"],
  holds: Holds | undefined,
  build: Evaluate,
  context: MappingContext,
): Append {
  return (scope, into) => {
    for (const item of read(scope) ?? []) {
      const element = { item, parent: scope };
      const isMeant = holds === undefined || holds(element);
      const value = isMeant ? build(element) : undefined;
      if (context.fault !== undefined) return;
      if (value !== undefined) into.push(value);
    }
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

/** The variant of an element: named by `kind`, or else the one that has all the fields that are written. */
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
