import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { failed, ok, type Result } from "../../base/errors.ts";
import type { ExpressionExample } from "./operators/operator.ts";

export interface Scope {
  readonly item: Json | undefined;
  readonly parent: Scope | undefined;
}

export interface Path {
  readonly up: number;
  readonly steps: readonly (string | number)[];
}

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
export const pathPattern = `^(?:(?:\\^\\.)+|(?:\\^\\.)*(?:\\^|\\.|${pathStep}(?:\\.${pathStep}|${pathBracket})*))$`;

const isPath = new RegExp(pathPattern);

/** For example `companyName`, `a.b[0].c`, `["odd.name"].x`. `^.` goes to the item around; `.` is the item itself. */
export function parsePath(text: string): Result<Path, string> {
  if (!isPath.test(text))
    return failed(
      `the path ${JSON.stringify(text)} cannot be read; expected names such as a.b, "a[0]" or ` +
        `'["name"]', behind "^." where they begin at the item around this one${asOneName(text)}`,
    );
  const [around = ""] = /^(?:\^\.?)*/.exec(text) ?? [];
  return ok({ up: around.split("^").length - 1, steps: parseRawPath(text.slice(around.length)) });
}

function asOneName(text: string): string {
  const isOdd = text !== "" && !/[[\]"]/.test(text) && !text.startsWith("^");
  return isOdd ? `; for a member of this name write '[${JSON.stringify(text)}]'` : "";
}

/** The path of a setting that was checked when the configuration was read. */
export function pathOf(text: string): Path {
  const parsed = parsePath(text);
  return parsed.ok ? parsed.value : { up: 0, steps: [] };
}

/** Uses own members only, so that a record cannot reach inherited ones. */
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

/** Means "every element" in the steps of a `ReadPath`. No path can contain this number. */
export const everyElement = -1;

/** A raw place as text: `lines[].licence.password`. `[]` means every element. */
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

/** Replaces a secret in a raw record. */
export const blankedSecret = "[secret]";

/** Returns a copy of a raw record with everything at `paths` blanked. Missing values stay missing. */
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
    // A list with one element may be that element alone.
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
