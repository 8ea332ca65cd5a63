import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { failed, ok, type Result } from "../../base/errors.ts";
import type { ExpressionExample } from "./operators/operator.ts";

/** One item that a mapping looks at, inside the item around it: a line inside its order. */
export interface Scope {
  readonly item: Json | undefined;
  readonly parent: Scope | undefined;
}

/** A parsed path: how many scopes up it starts, then members and positions. */
export interface Path {
  readonly up: number;
  readonly steps: readonly (string | number)[];
}

/** The ways to write a path, for the reference; its test runs them. */
export const pathExamples: readonly (ExpressionExample & { means: string })[] = [
  { means: "a member of the record", expression: "city", record: { city: "Bonn" }, gives: "Bonn" },
  {
    means: "a member of a member, and a position in a list, from 0",
    expression: "a.lines[1].id",
    record: { a: { lines: [{ id: 1 }, { id: 2 }] } },
    gives: 2,
  },
  {
    means: "a name with dots, brackets or a caret in it",
    expression: '["e-mail.work"]',
    record: { "e-mail.work": "ann@example.com" },
    gives: "ann@example.com",
  },
  { means: "something that is not there: nothing", expression: "city.name", record: { city: "Bonn" } },
  { means: "null, empty or blank text: nothing", expression: "city", record: { city: "  " } },
];

const quotedName = '"(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"';
const pathStep = `(?:[^.[\\]^]+|\\[(?:\\d{1,9}|${quotedName})\\])`;
const pathBracket = `\\[(?:\\d{1,9}|${quotedName})\\]`;
/** The texts that are paths, as a regular expression; `parsePath` says of others what is wrong. */
export const pathPattern = `^(?:(?:\\^\\.)+|(?:\\^\\.)*(?:\\^|\\.|${pathStep}(?:\\.${pathStep}|${pathBracket})*))$`;

const isPath = new RegExp(pathPattern);

/**
 * Parses a path: `companyName`, `a.b[0].c`, `["odd.name"].x`; `^.` in front goes to the item around this one, as often
 * as it stands; `.` is the item itself.
 */
export function parsePath(text: string): Result<Path, string> {
  if (!isPath.test(text))
    return failed(
      `the path ${JSON.stringify(text)} cannot be read; expected names such as a.b, "a[0]" or ` +
        `'["name"]', behind "^." where they begin at the item around this one${asOneName(text)}`,
    );
  const [around = ""] = /^(?:\^\.?)*/.exec(text) ?? [];
  return ok({ up: around.split("^").length - 1, steps: parseRawPath(text.slice(around.length)) });
}

/** How the name of one member is written that a path cannot be read as: `Kundennr.`. */
function asOneName(text: string): string {
  const isOdd = text !== "" && !/[[\]"]/.test(text) && !text.startsWith("^");
  return isOdd ? `; for a member of this name write '[${JSON.stringify(text)}]'` : "";
}

/** The path of a setting, which was checked when the configuration was read. */
export function pathOf(text: string): Path {
  const parsed = parsePath(text);
  return parsed.ok ? parsed.value : { up: 0, steps: [] };
}

/** The value a path leads to, by own members only, so that a record cannot reach what every object inherits. */
export function valueAt(scope: Scope, path: Path): Json | undefined {
  let from: Scope | undefined = scope;
  for (let up = path.up; up > 0; up -= 1) from = from?.parent;
  let value = from?.item;
  for (const step of path.steps) {
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value)) value = typeof step === "number" ? value[step] : undefined;
    else value = typeof step === "string" && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** Stands for "every element" in the steps of a `ReadPath`. A symbol-like number that no path can hold. */
export const everyElement = -1;

/** A place in a raw record as text: `lines[].licence.password`; `[]` stands for every element. */
export function formatRawPath(steps: readonly (string | number)[]): string {
  let text = "";
  for (const step of steps) {
    if (step === everyElement) text += "[]";
    else if (typeof step === "number") text += `[${step}]`;
    else if (/^[^.[\]^]+$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** Reads what `formatRawPath` wrote. */
export function parseRawPath(text: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const match of text.matchAll(/\[\]|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)) {
    const [, position, quoted, name] = match;
    if (position !== undefined) steps.push(Number(position));
    else if (quoted !== undefined) steps.push(String(JSON.parse(quoted)));
    else steps.push(name ?? everyElement);
  }
  return steps;
}

/** Whether one of two places is the other or lies inside it. */
export function overlaps(left: readonly (string | number)[], right: readonly (string | number)[]): boolean {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const one = left[index];
    const other = right[index];
    if (one === other) continue;
    if (one === everyElement && typeof other === "number") continue;
    if (other === everyElement && typeof one === "number") continue;
    return false;
  }
  return true;
}

/** What stands in a raw record where a secret was. */
export const blankedSecret = "[secret]";

/**
 * A copy of a raw record in which everything at `paths` is blanked. What is not there stays away; the record given is
 * not changed.
 */
export function blankSecrets(raw: JsonObject, paths: readonly string[]): JsonObject {
  let blanked: JsonObject = raw;
  for (const path of paths) {
    const result = blankAt(blanked, parseRawPath(path), 0);
    if (isJsonObject(result)) blanked = result;
  }
  return blanked;
}

function blankAt(value: Json | undefined, steps: readonly (string | number)[], depth: number): Json | undefined {
  const step = steps[depth];
  if (value === undefined || value === null) return value;
  if (step === undefined) return blankedSecret;
  if (step === everyElement) {
    // A list with a single element may stand as that element alone.
    if (!Array.isArray(value)) return blankAt(value, steps, depth + 1);
    return value.map((element) => blankAt(element, steps, depth + 1) ?? null);
  }
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) {
    return value.map((element, index) => (index === step ? (blankAt(element, steps, depth + 1) ?? null) : element));
  }
  if (typeof step !== "string" || !Object.hasOwn(value, step)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === step ? blankAt(member, steps, depth + 1) : member]),
  );
}
