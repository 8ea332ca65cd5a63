import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { everyElement, mistake } from "./context.ts";
import type { Evaluate, ExpressionCompiler, KeyPath, MappingContext, ScopeOrigin } from "./context.ts";
import { operators } from "./operators.ts";
import { compilePath, parsePath } from "./path.ts";
import type { Path } from "./path.ts";

/** Null, empty and blank texts and the texts that stand for nothing become nothing. */
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
    path(text, at, secret = false) {
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
      if (steps !== undefined) context.reads.push({ steps, secret, at });
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
      return operator(spec, at, compiler);
    },
  };
  return compiler;
}

function present(path: Path, context: MappingContext): Evaluate {
  const read = compilePath(path);
  const { nullTexts } = context;
  return (scope) => presentValue(read(scope), nullTexts);
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

function operator(spec: JsonObject, at: KeyPath, compiler: ExpressionCompiler): Evaluate {
  const { context } = compiler;
  const keys = Object.keys(spec);
  const named = keys.filter((key) => Object.hasOwn(operators, key));
  const [name] = named;
  const chosen = name === undefined ? undefined : operators[name];
  if (name === undefined || chosen === undefined) {
    return mistake(
      context,
      at,
      `found the keys ${keys.join(", ") || "none"}; expected one of ${Object.keys(operators).join(", ")}`,
    );
  }
  if (named.length > 1) return mistake(context, at, `found ${named.join(" and ")} together; expected one of them`);
  const { options } = chosen.reference;
  for (const key of keys) {
    if (key === name || key === "default" || Object.hasOwn(options, key)) continue;
    const possible = [...Object.keys(options), "default"].join(", ");
    mistake(context, [...at, key], `unknown; beside ${name} there can be ${possible}`);
  }
  const operand = spec[name];
  if (operand === undefined) return mistake(context, [...at, name], "missing");
  const evaluate = chosen.compile(operand, spec, [...at, name], compiler);
  const fallback = spec["default"];
  if (fallback === undefined) return evaluate;
  return (scope) => {
    const value = evaluate(scope);
    return value === undefined && context.fault === undefined ? fallback : value;
  };
}

/** The scope of the elements of a list that was read from `steps`. */
export function elementOrigin(parent: ScopeOrigin, steps: readonly (string | number)[] | undefined): ScopeOrigin {
  return { steps: steps === undefined ? undefined : [...steps, everyElement], parent };
}
