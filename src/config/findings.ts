import type { z } from "zod";
import type { Problem } from "../base/errors.ts";
import { isMap, mistake, nearestMark, valueAt, type Layer, type Path } from "./document.ts";
import { keysAt, schemasAt, type JsonSchema } from "./schema.ts";
import { isSecretKey } from "./secrets.ts";

type Issue = z.core.$ZodIssue;

/** Never repeats a possible secret. In file order. */
export function explainIssues(issues: readonly Issue[], layer: Layer, schema: JsonSchema): Problem[] {
  return issues.flatMap((issue) => explain(issue, [], layer, schema));
}

function explain(issue: Issue, above: Path, layer: Layer, schema: JsonSchema): Problem[] {
  const path = [...above, ...issue.path.map((step) => (typeof step === "symbol" ? String(step) : step))];
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(key, path, layer, schema));
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    return bestBranch(issue.errors, valueAt(layer.value, path)).flatMap((inner) => explain(inner, path, layer, schema));
  }
  const value = valueAt(layer.value, path);
  const place = nearestMark(layer, path)?.place ?? "configuration";
  const name = path.length === 0 ? "The configuration" : `\`${path.join(".")}\``;
  if (issue.code === "invalid_key") {
    const inner = issue.issues[0];
    return [
      mistake("config.key", place, `${name} has a wrong name: ${expectation(inner)} is expected.`, "Rename the key."),
    ];
  }
  if (issue.code === "custom" && !issue.message.startsWith("expected ")) {
    const state =
      value === undefined || isMap(value) || namesInstead(issue) !== undefined
        ? ""
        : ` is ${found(path, layer, schema)}`;
    return [
      mistake(
        "config.invalid",
        place,
        `${name}${state}: ${sentence(issue.message)}`,
        cureFor(issue, path, layer, schema),
      ),
    ];
  }
  const expected = expectation(issue);
  if (value === undefined) {
    const last = path.at(-1);
    const cure =
      last === "orderService" || last === "memberCenter"
        ? `Add \`${last}: …\` here. Until then, \`--sandbox\` simulates both services.`
        : `Add \`${last}: …\` here.`;
    return [mistake("config.missing", place, `${name} is missing; ${expected} is expected.`, cure)];
  }
  return [
    mistake(
      "config.invalid",
      place,
      `${name} is ${found(path, layer, schema)}; ${expected} is expected.`,
      cureFor(issue, path, layer, schema),
    ),
  ];
}

function sentence(text: string): string {
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}

/** The alternative that got deepest into the value, then the one with the fewest issues. */
function bestBranch(branches: readonly (readonly Issue[])[], value: unknown): readonly Issue[] {
  const rated = branches.map((issues, order) => ({
    issues,
    order,
    depth: Math.max(0, ...issues.map((issue) => issue.path.length)),
    sameKind: issues.every((issue) => !(issue.code === "invalid_type" && issue.path.length === 0)),
    kindWrong: issues.some(
      (issue) => issue.code === "invalid_value" && issue.path.length === 1 && issue.path[0] === "kind",
    ),
  }));
  rated.sort(
    (a, b) =>
      Number(b.sameKind) - Number(a.sameKind) ||
      Number(a.kindWrong) - Number(b.kindWrong) ||
      b.depth - a.depth ||
      a.issues.length - b.issues.length ||
      a.order - b.order,
  );
  const best = rated[0];
  if (best === undefined) return [];
  if (!best.sameKind && !isMap(value)) return mergedTypes(branches.flat());
  return best.issues;
}

function mergedTypes(issues: readonly Issue[]): readonly Issue[] {
  const types = [...new Set(issues.filter((issue) => issue.path.length === 0).map(expectation))];
  const first = issues[0];
  return first === undefined
    ? []
    : [{ code: "custom", path: [], message: `expected ${types.join(" or ")}`, input: first.input }];
}

function unknownKey(key: string, path: Path, layer: Layer, schema: JsonSchema): Problem {
  const known = keysAt(schema, path, layer.value);
  const full = [...path, key];
  const around = path.length === 0 ? "the top level" : `\`${path.join(".")}\``;
  const cure = known.length === 0 ? "Remove it." : `Remove it, or use one of: ${known.join(", ")}.`;
  return mistake(
    "config.unknown-key",
    nearestMark(layer, full)?.place ?? "configuration",
    `\`${full.join(".")}\` is not a key of ${around}.`,
    cure,
  );
}

/** The expected key names, if the key is wrong and not its value. */
function namesInstead(issue: Issue): readonly string[] | undefined {
  const names: unknown = issue.code === "custom" ? issue.params?.["names"] : undefined;
  return Array.isArray(names) ? names.map(String) : undefined;
}

function cureFor(issue: Issue, path: Path, layer: Layer, schema: JsonSchema): string {
  const names = namesInstead(issue);
  if (names !== undefined) return `Remove it, or use one of: ${names.join(", ")}.`;
  const value = valueAt(layer.value, path);
  if (
    issue.code === "invalid_type" &&
    issue.expected === "string" &&
    (typeof value === "number" || typeof value === "boolean")
  ) {
    return isSecret(path, schema)
      ? "Write `env:NAME` or `file:/path`."
      : "Put it in quotes, so that YAML keeps it as text.";
  }
  if (value === null) return "Write a value after the colon, or remove the key to use its default.";
  return "Correct the value, or remove the key if it has a default.";
}

function isSecret(path: Path, schema: JsonSchema): boolean {
  return isSecretKey(path) || schemasAt(schema, path).some((one) => one.pattern?.startsWith("^(env") === true);
}

function found(path: Path, layer: Layer, schema: JsonSchema): string {
  const value = valueAt(layer.value, path);
  if (value === null) return "empty";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (isMap(value)) return "a map";
  if (isSecret(path, schema)) return "a value that is not shown";
  const text = nearestMark(layer, path)?.text ?? String(value);
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  // oxlint-disable-next-line no-control-regex -- a message goes to a terminal
  const clean = short.replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "?");
  return typeof value === "string"
    ? `the text "${clean}"`
    : `the ${typeof value === "number" ? "number" : "truth value"} ${clean}`;
}

const typeNames: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "a map of keys",
  record: "a map of keys",
  array: "a list",
  null: "null",
};

function expectation(issue: Issue | undefined): string {
  if (issue === undefined) return "another value";
  switch (issue.code) {
    case "invalid_type":
      return typeNames[issue.expected] ?? issue.expected;
    case "invalid_value":
      return issue.values.length === 1
        ? `\`${String(issue.values[0])}\``
        : `one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return sized(issue.origin, `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`);
    case "too_big":
      return sized(issue.origin, `${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}`);
    case "invalid_format":
      if (!issue.message.startsWith("Invalid")) return issue.message.replace(/^expected /u, "");
      return issue.format === "regex" && issue.pattern !== undefined
        ? `text that fits ${issue.pattern}`
        : `a valid ${issue.format}`;
    case "not_multiple_of":
      return `a multiple of ${issue.divisor}`;
    case "invalid_union":
      return optionsOf(issue).length > 0
        ? `one of ${optionsOf(issue).map(String).join(", ")}`
        : "one of the allowed shapes";
    case "custom":
      return issue.message.replace(/^expected /u, "");
    case "unrecognized_keys":
    case "invalid_key":
    case "invalid_element":
      return issue.message;
  }
}

function optionsOf(issue: Issue): readonly unknown[] {
  return "options" in issue && Array.isArray(issue.options) ? issue.options : [];
}

function sized(origin: string, size: string): string {
  if (origin === "string") return `text of ${size} characters`;
  return origin === "array" || origin === "set" ? `a list of ${size} entries` : size;
}
