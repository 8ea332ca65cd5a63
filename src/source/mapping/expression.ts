import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import {
  mistake,
  refuse,
  type CompiledElements,
  type Evaluate,
  type ExpressionCompiler,
  type KeyPath,
  type MappingContext,
  type ScopeOrigin,
} from "./context.ts";
import { operators } from "./operators.ts";
import type { Operator } from "./operators/operator.ts";
import { everyElement, parsePath, valueAt, type Path } from "./path.ts";

const deepest = 60;

/** List elements visited per record: nested lists quickly reach a million. */
const mostVisited = 2_000_000;

/** Null, blank texts and `nullTexts` become undefined. */
function presentValue(value: Json | undefined, nullTexts: ReadonlySet<string>): Json | undefined {
  if (value === null) return undefined;
  if (typeof value !== "string") return value;
  if (value === "" || nullTexts.has(value)) return undefined;
  return value.charCodeAt(0) <= 32 && value.trim() === "" ? undefined : value;
}

export function createExpressionCompiler(context: MappingContext, origin: ScopeOrigin): ExpressionCompiler {
  const compiler: ExpressionCompiler = {
    context,
    origin,
    path(text, at, { secret = false, goesThrough = false } = {}) {
      const parsed = parsePath(text);
      if (!parsed.ok) {
        mistake(context, at, parsed.error);
        return undefined;
      }
      const from = originOf(origin, parsed.value.up);
      if (from === undefined) {
        mistake(
          context,
          at,
          `the path ${JSON.stringify(text)} goes above the record; expected at most ${depthOf(origin)} "^"`,
        );
        return undefined;
      }
      const steps = from.steps === undefined ? undefined : [...from.steps, ...parsed.value.steps];
      if (steps !== undefined) context.reads.push({ steps, secret, at, goesThrough });
      return { read: present(parsed.value, context), steps };
    },
    expression(spec, at) {
      if (typeof spec === "string") return compiler.path(spec, at)?.read ?? (() => undefined);
      if (!isJsonObject(spec)) {
        return mistake(
          context,
          at,
          `found ${JSON.stringify(spec) ?? "nothing"}; expected a path, ` +
            `or an object such as {value: ${JSON.stringify(spec) ?? "…"}}`,
        );
      }
      if (at.length > deepest) return mistake(context, at, `expected at most ${deepest} expressions in each other`);
      const found = chosenOperator(spec, at, context);
      if (found === undefined) return () => undefined;
      const { chosen, operand, name } = found;
      return withDefault(chosen.compile(operand, spec, [...at, name], compiler), spec, context);
    },
    elements(spec, at, goesThrough) {
      if (typeof spec === "string") {
        const path = compiler.path(spec, at, { goesThrough });
        return elementsOf(path?.read ?? (() => undefined), path?.steps, compiler);
      }
      const optional = optionalList(spec);
      if (isJsonObject(spec) && optional !== undefined) {
        const path = compiler.path(optional, [...at, "path"], { goesThrough });
        return elementsOf(withDefault(path?.read ?? (() => undefined), spec, context), path?.steps, compiler);
      }
      const inner = isJsonObject(spec) ? operatorOf(spec) : undefined;
      if (!isJsonObject(spec) || inner?.chosen.elements === undefined || spec["default"] !== undefined)
        return elementsOf(compiler.expression(spec, at), undefined, compiler);
      const found = chosenOperator(spec, at, context);
      if (found === undefined || at.length > deepest) return elementsOf(() => undefined, undefined, compiler);
      return inner.chosen.elements(found.operand, spec, [...at, found.name], compiler, goesThrough);
    },
  };
  return compiler;
}

/** The path of `{path: PATH, default: []}`: a list that may be missing. */
function optionalList(spec: Json | undefined): string | undefined {
  if (!isJsonObject(spec) || Object.keys(spec).length !== 2) return undefined;
  const { path, default: fallback } = spec;
  return typeof path === "string" && Array.isArray(fallback) && fallback.length === 0 ? path : undefined;
}

function elementsOf(
  read: Evaluate,
  steps: readonly (string | number)[] | undefined,
  compiler: ExpressionCompiler,
): CompiledElements {
  const { context } = compiler;
  return {
    inside: createExpressionCompiler(context, elementOrigin(compiler.origin, steps)),
    read: (scope) => {
      const found = read(scope);
      if (found === undefined || context.fault !== undefined) return undefined;
      const elements = (Array.isArray(found) ? found : [found]).filter(
        (element) => presentValue(element, context.nullTexts) !== undefined,
      );
      context.visited += elements.length;
      if (context.visited > mostVisited)
        return refuse(context, "too-many", found, `lists of at most ${mostVisited} elements in all`);
      return elements;
    },
  };
}

function present(path: Path, context: MappingContext): Evaluate {
  const { nullTexts } = context;
  return (scope) => presentValue(valueAt(scope, path), nullTexts);
}

function originOf(origin: ScopeOrigin, up: number): ScopeOrigin | undefined {
  let from: ScopeOrigin | undefined = origin;
  for (let left = up; left > 0; left -= 1) from = from?.parent;
  return from;
}

function depthOf(origin: ScopeOrigin): number {
  let depth = 0;
  for (let from = origin.parent; from !== undefined; from = from.parent) depth += 1;
  return depth;
}

function operatorOf(spec: JsonObject): { name: string; chosen: Operator } | undefined {
  const [name, ...others] = Object.keys(spec).filter((key) => Object.hasOwn(operators, key));
  const chosen = name === undefined ? undefined : operators[name];
  return name === undefined || chosen === undefined || others.length > 0 ? undefined : { name, chosen };
}

function chosenOperator(
  spec: JsonObject,
  at: KeyPath,
  context: MappingContext,
): { name: string; chosen: Operator; operand: Json } | undefined {
  const wrong = (path: KeyPath, message: string): undefined => {
    mistake(context, path, message);
    return undefined;
  };
  const keys = Object.keys(spec);
  const named = keys.filter((key) => Object.hasOwn(operators, key));
  const [first] = named;
  if (first !== undefined && named.length > 1)
    return wrong(
      at,
      `found ${named.join(" and ")} together; expected one of them; beside ${first} there can be ${besideOf(first)}`,
    );
  const found = operatorOf(spec);
  if (found === undefined)
    return wrong(
      at,
      `found the keys ${keys.join(", ") || "none"}; expected one of ${Object.keys(operators).join(", ")}`,
    );
  const { name, chosen } = found;
  const { options = {} } = chosen.reference;
  for (const key of keys) {
    if (key === name || key === "default" || Object.hasOwn(options, key)) continue;
    mistake(context, [...at, key], `unknown; beside ${name} there can be ${besideOf(name)}`);
  }
  const operand = spec[name];
  return operand === undefined ? wrong([...at, name], "missing") : { name, chosen, operand };
}

function besideOf(name: string): string {
  return [...Object.keys(operators[name]?.reference.options ?? {}), "default"].join(", ");
}

function withDefault(evaluate: Evaluate, spec: JsonObject, context: MappingContext): Evaluate {
  const fallback = spec["default"];
  if (fallback === undefined) return evaluate;
  return (scope) => {
    const value = evaluate(scope);
    return value === undefined && context.fault === undefined ? fallback : value;
  };
}

export function elementOrigin(parent: ScopeOrigin, steps: readonly (string | number)[] | undefined): ScopeOrigin {
  return { steps: steps === undefined ? undefined : [...steps, everyElement], parent };
}
