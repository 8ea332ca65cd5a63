import { parse } from "yaml";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { failed, ok } from "../base/errors.ts";
import type { Problem, Result } from "../base/errors.ts";
import { mistake } from "./document.ts";
import { isMap, markKey } from "./layer.ts";
import type { Layer, Mark } from "./layer.ts";
import { acceptsText } from "./schema-walk.ts";
import type { JsonSchema } from "./schema-walk.ts";

/** The environment of the process, or a made-up one. */
export type Environment = Readonly<Record<string, string | undefined>>;

const prefix = "CRM_SYNC__";

/**
 * Settings from the environment: `CRM_SYNC__orderService__baseUrl=https://…` sets `orderService.baseUrl`. The text is
 * taken as it is where the setting is text, so that `0012` stays `0012`; elsewhere it is read as YAML (`5`, `true`,
 * `[a, b]`, `{floor: 5}`).
 */
export function readEnvironment(environment: Environment, schema: () => JsonSchema): Result<Layer, Problem[]> {
  const value: JsonObject = {};
  const marks = new Map<string, Mark>();
  const problems: Problem[] = [];
  const names = Object.keys(environment).filter((name) => name.startsWith(prefix));
  for (const name of names.sort()) {
    const text = environment[name];
    if (text === undefined) continue;
    const path = name.slice(prefix.length).split("__");
    const place = `environment ${name}`;
    if (path.some((step) => step === "" || Object.hasOwn(Object.prototype, step))) {
      problems.push(
        mistake(
          "config.environment",
          place,
          "This environment variable does not name a setting.",
          `Write ${prefix}a__b for the setting a.b.`,
        ),
      );
      continue;
    }
    const read = parseText(text, place);
    // Most values read as the same text. Only the others need the schema, which is slow to make.
    const isSame = read.ok && read.value === text;
    const parsed = isSame || !acceptsText(schema(), path, text) ? read : ok<Json>(text);
    if (!parsed.ok) {
      problems.push(parsed.error);
      continue;
    }
    path.slice(0, -1).forEach((_, index) => marks.set(markKey(path.slice(0, index + 1)), { place }));
    putAt(value, path, parsed.value);
    markAll(parsed.value, path, { place, text }, marks);
  }
  return problems.length > 0 ? failed(problems) : ok({ value, marks });
}

function parseText(text: string, place: string): Result<Json, Problem> {
  try {
    const parsed: unknown = parse(text, { maxAliasCount: 0, uniqueKeys: true });
    const json: Json = parsed === undefined ? null : toJson(parsed);
    return ok(json);
  } catch {
    return failed(
      mistake("config.environment", place, "The value is not YAML.", "Write 5, true, [a, b] or {key: value}."),
    );
  }
}

function toJson(value: unknown): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number")
    return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === "object") {
    const entries = Object.entries(value);
    if (entries.some(([key]) => Object.hasOwn(Object.prototype, key))) throw new TypeError("no key of a configuration");
    return Object.fromEntries(entries.map(([key, one]) => [key, toJson(one)]));
  }
  throw new TypeError("no value of a configuration");
}

function putAt(target: JsonObject, path: readonly string[], value: Json): void {
  let current = target;
  path.forEach((step, index) => {
    if (index === path.length - 1) {
      current[step] = value;
      return;
    }
    const inner = current[step];
    const next = isMap(inner) ? inner : {};
    current[step] = next;
    current = next;
  });
}

function markAll(value: Json, path: readonly (string | number)[], mark: Mark, marks: Map<string, Mark>): void {
  marks.set(markKey(path), typeof value === "object" && value !== null ? { place: mark.place } : mark);
  if (Array.isArray(value)) value.forEach((one, index) => markAll(one, [...path, index], { place: mark.place }, marks));
  else if (isMap(value)) {
    for (const [key, one] of Object.entries(value)) {
      if (one !== undefined) markAll(one, [...path, key], { place: mark.place }, marks);
    }
  }
}
