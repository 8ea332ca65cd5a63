import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import type { z } from "zod";
import { hashOf, type Json, type JsonObject } from "../base/canonical-json.ts";
import { failed, ok, type Problem, type Result } from "../base/errors.ts";
import { KnownSecrets } from "../base/known-secrets.ts";
import { projectFolder } from "../base/program-version.ts";
import { isMap, markKey, mergeLayers, mistake, nearestMark, readDocument, type Layer, type Mark } from "./document.ts";
import { explainIssues } from "./findings.ts";
import { acceptsText, jsonSchemaOf, type JsonSchema } from "./schema.ts";
import { resolveSecrets, resolveTexts, type Secrets } from "./secrets.ts";

/** Cached, because making a schema costs more than reading a configuration. */
const shapes = new WeakMap<z.ZodType, JsonSchema>();

function shapeOf(schema: z.ZodType): JsonSchema {
  const made = shapes.get(schema) ?? jsonSchemaOf(schema);
  shapes.set(schema, made);
  return made;
}

const shippedProfiles = join(projectFolder, "config/profiles");

/** Where the settings of a run came from. Contains no value and no secret. */
export interface ConfigHeader {
  file: string;
  /** In the order in which they were applied, below the file. */
  profiles: string[];
  /** Environment variables that changed a setting. */
  environment: string[];
  options: string[];
  hash: string;
}

export interface LoadRequest {
  path: string;
  /** Names in `config/profiles`; later ones override earlier ones, the file overrides all. */
  profiles?: readonly string[];
  environment: Environment;
  /** From the command line; they override everything else. */
  options?: readonly { name: string; settings: JsonObject }[];
  /** false: a missing secret fails only on use; a path: only secrets below it are required. Default true. */
  secretsRequired?: boolean | readonly string[];
  /** Sections that replace those of all layers. */
  instead?: JsonObject;
  profileDirectory?: string;
}

export interface Loaded<Config> {
  config: Config;
  secrets: Secrets;
  header: ConfigHeader;
  directory: string;
  /** `file:line:column` of a key such as `sources.erp.zone`, or of its nearest parent. */
  placeOf: (key: string) => string;
}

/** Reads, merges and checks profiles, file, environment and options. Returns all problems at once, in file order. */
export function loadWith<Schema extends z.ZodType>(
  schema: Schema,
  request: LoadRequest,
): Result<Loaded<z.output<Schema>>, Problem[]> {
  const file = resolve(request.path);
  const profiles = (request.profiles ?? []).map((name) =>
    readDocument(join(request.profileDirectory ?? shippedProfiles, `${name}.yaml`)),
  );
  const document = readDocument(request.path);
  const environment = readEnvironment(request.environment, () => shapeOf(schema));
  const layers: Layer[] = [];
  const problems: Problem[] = [];
  for (const layer of [...profiles, document, environment]) {
    if (layer.ok) layers.push(layer.value);
    else problems.push(...layer.error);
  }
  if (problems.length > 0) return failed(problems);
  for (const option of request.options ?? []) layers.push(layerOf(option.settings, option.name));

  const base: Layer = { value: {}, marks: new Map([[markKey([]), { place: `${request.path}:1:1` }]]) };
  const written = withSections(layers.reduce(mergeLayers, base), request.instead);
  const known = new KnownSecrets();
  const resolving = { required: request.secretsRequired ?? true, directory: dirname(file) };
  const texts = resolveTexts(written, request.environment, known, resolving);
  if (!texts.ok) return failed(inOrder(texts.error));
  const merged = texts.value;
  // Without JIT: the configuration is read once, and compiling costs more.
  const parsed = schema.safeParse(merged.value, { jitless: true });
  if (!parsed.success) {
    const explained = explainIssues(parsed.error.issues, merged, shapeOf(schema));
    return failed(inOrder(explained.map((problem) => known.problem(problem))));
  }
  const secrets = resolveSecrets(written, request.environment, known, resolving);
  if (!secrets.ok) return failed(inOrder(secrets.error));
  return ok({
    config: parsed.data,
    secrets: secrets.value,
    directory: dirname(file),
    placeOf: (key) => nearestMark(merged, key.split("."))?.place ?? key,
    header: {
      file,
      profiles: [...(request.profiles ?? [])],
      environment: environment.ok
        ? Object.keys(request.environment)
            .filter((name) => name.startsWith("CRM_SYNC__"))
            .sort()
        : [],
      options: (request.options ?? []).map((option) => option.name),
      // Lazy, because only stored headers need the hash, and it loads node:crypto.
      get hash() {
        return hashOf(written.value);
      },
    },
  });
}

function withSections(layer: Layer, sections: JsonObject | undefined): Layer {
  if (sections === undefined || !isMap(layer.value)) return layer;
  return { ...layer, value: { ...layer.value, ...sections } };
}

/** The root has no place: a missing key is reported for the file. */
function layerOf(settings: JsonObject, place: string): Layer {
  const marks = new Map<string, Mark>();
  markAll(settings, [], { place }, marks);
  marks.delete(markKey([]));
  return { value: settings, marks };
}

function inOrder(problems: Problem[]): Problem[] {
  const position = (problem: Problem): [string, number, number] => {
    const parts = /^(.*):(\d+):(\d+)$/su.exec(problem.place ?? "");
    return [parts?.[1] ?? problem.place ?? "", Number(parts?.[2] ?? 0), Number(parts?.[3] ?? 0)];
  };
  const sorted = problems
    .map((problem) => ({ problem, at: position(problem) }))
    .sort((a, b) => (a.at[0] < b.at[0] ? -1 : a.at[0] > b.at[0] ? 1 : a.at[1] - b.at[1] || a.at[2] - b.at[2]));
  const seen = new Set<string>();
  return sorted
    .map(({ problem }) => problem)
    .filter((problem) => {
      const same = `${problem.place} ${problem.message}`;
      return seen.has(same) ? false : seen.add(same);
    });
}

export type Environment = Readonly<Record<string, string | undefined>>;

const prefix = "CRM_SYNC__";

/**
 * `CRM_SYNC__orderService__baseUrl=https://…` sets `orderService.baseUrl`. A text setting keeps the text, so `0012`
 * stays `0012`; others are read as YAML (`5`, `true`, `[a, b]`, `{floor: 5}`).
 */
function readEnvironment(environment: Environment, schema: () => JsonSchema): Result<Layer, Problem[]> {
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
