import type { Json, JsonObject } from "../../../base/canonical-json.ts";
import type { CompiledElements, Evaluate, ExpressionCompiler, KeyPath } from "../context.ts";
import type { Scope } from "../path.ts";
import type { WrittenOperator } from "../written.ts";
import type { Operator, OperatorReference } from "./operator.ts";

export const takesList =
  "a list; one object or value counts as a list of one, and elements that mean nothing are left out";
export const tooMany = { "too-many": "the lists of a record are gone through for more than 2,000,000 elements" };
export const elementPaths = "Its paths start at the element, as inside `each`.";

/** An operator that gives elements of a list as they are. */
export function onElements(
  reference: Omit<OperatorReference, "takes" | "gives" | "refuses"> & { refuses?: Readonly<Record<string, string>> },
  written: WrittenOperator,
  change: (
    list: CompiledElements,
    spec: JsonObject,
    at: KeyPath,
    compiler: ExpressionCompiler,
  ) => (elements: readonly Json[], scope: Scope) => readonly Json[] | undefined,
  /** Whether what it does reads the elements themselves. */
  readsElements: (spec: JsonObject) => boolean = () => false,
): Operator {
  const elements: NonNullable<Operator["elements"]> = (operand, spec, at, compiler, goesThrough) => {
    const list = compiler.elements(operand, at, goesThrough && !readsElements(spec));
    const changed = change(list, spec, at, compiler);
    return {
      inside: list.inside,
      read: (scope) => {
        const found = list.read(scope);
        const result = found === undefined ? undefined : changed(found, scope);
        return compiler.context.fault === undefined ? result : undefined;
      },
    };
  };
  return {
    reference: { ...reference, takes: takesList, gives: "a list", refuses: { ...tooMany, ...reference.refuses } },
    written,
    gives: ["list"],
    elements,
    compile(operand, spec, at, compiler) {
      const { read } = elements(operand, spec, at, compiler, false);
      return (scope) => asList(read(scope));
    },
  };
}

const asList = (elements: readonly Json[] | undefined): Json[] | undefined =>
  elements === undefined ? undefined : [...elements];

/** The value of an expression for each element. Stops at the first fault. */
export function eachOf(
  elements: readonly Json[],
  scope: Scope,
  value: Evaluate,
  fault: () => boolean,
): (Json | undefined)[] {
  const values: (Json | undefined)[] = [];
  for (const item of elements) {
    values.push(value({ item, parent: scope }));
    if (fault()) return values;
  }
  return values;
}
