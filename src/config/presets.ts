import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { failed, ok } from "../base/errors.ts";
import type { Problem, Result } from "../base/errors.ts";
import { projectFolder } from "../base/program-version.ts";
import { isMap, markKey, mistake, nearestMark, readDocument, valueAt } from "./document.ts";
import type { Layer, Mark, Path } from "./document.ts";

export const shippedPresets = join(projectFolder, "config/presets");

/** The names of the presets in a folder. */
export function presetNames(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => name.slice(0, -".yaml".length))
    .sort();
}

/** A preset as its file holds it: the settings of one source, and what a person has to add to them. */
interface Preset {
  name: string;
  settings: Layer;
  /** By path in the settings, what has to be written there. */
  fill: Readonly<Record<string, string>>;
}

/** Settings in which presets lie below the sources that name one. */
interface WithPresets {
  settings: Layer;
  /** By source, the name of its preset. */
  presets: Record<string, string>;
  /** What a preset leaves to a person and the source does not say; by source. */
  unfilled: Map<string, Problem[]>;
}

/**
 * Lays each source that names a preset over the settings of that preset: maps are merged key by key, everything else
 * is replaced, and null takes away what the preset has. A field of a mapping, a look-up table and a condition are one
 * thing each, and are replaced whole.
 */
export function layPresets(settings: Layer, directory: string): Result<WithPresets, Problem[]> {
  const sources = settings.value["sources"];
  const result: WithPresets = { settings, presets: {}, unfilled: new Map() };
  if (!isMap(sources)) return ok(result);
  const problems: Problem[] = [];
  for (const [source, own] of Object.entries(sources)) {
    if (!isMap(own) || own["preset"] === undefined) continue;
    const place = nearestMark(settings, ["sources", source, "preset"])?.place ?? "configuration";
    const name = own["preset"];
    const preset = presetNamed(name, directory, `sources.${source}.preset`, place);
    if (!preset.ok) {
      problems.push(...preset.error);
      continue;
    }
    result.settings = layPreset(result.settings, source, own, preset.value);
    result.presets[source] = preset.value.name;
    const missing = unfilledIn(valueAt(result.settings.value, ["sources", source]), preset.value);
    if (missing.length > 0)
      result.unfilled.set(
        source,
        missing.map((path) => leftToYou(source, preset.value, path, place)),
      );
  }
  return problems.length > 0 ? failed(problems) : ok(result);
}

function leftToYou(source: string, { name, fill }: Preset, path: string, place: string): Problem {
  const steps = ["sources", source, ...path.split(".")];
  const [around, key] = [steps.slice(0, -1).join("."), steps.at(-1)];
  const message = `The preset ${name} needs your value for \`${steps.join(".")}\`: ${fill[path]}`;
  return mistake("config.fill-in", place, message, `Write \`${key}: …\` under \`${around}\`.`);
}

function presetNamed(name: Json, directory: string, key: string, place: string): Result<Preset, Problem[]> {
  const names = presetNames(directory);
  if (typeof name === "string" && names.includes(name)) return readPreset(name, directory);
  const found = typeof name === "string" ? `there is no preset \`${name}\`` : "the name of a preset is expected";
  const cure = `Use one of: ${names.join(", ")}; or remove the key and write the settings yourself.`;
  return failed([mistake("config.preset", place, `\`${key}\`: ${found}.`, cure)]);
}

/** The preset that a file of a folder holds. */
export function readPreset(name: string, directory: string): Result<Preset, Problem[]> {
  const document = readDocument(join(directory, `${name}.yaml`));
  return document.ok ? presetIn(name, document.value) : document;
}

/** The parts of the file of a preset. */
function presetIn(name: string, layer: Layer): Result<Preset, Problem[]> {
  const { fill = {}, ...value } = layer.value;
  const texts = isMap(fill) ? Object.entries(fill).flatMap(textEntry) : undefined;
  if (texts === undefined || texts.length !== Object.keys(fill ?? {}).length) {
    const place = nearestMark(layer, ["fill"])?.place ?? "configuration";
    const cure = "Write the path of a setting, and the hint for it as text.";
    return failed([
      mistake("config.preset", place, "`fill` of a preset must give a text for each path of a setting.", cure),
    ]);
  }
  if (value["preset"] !== undefined) {
    const place = nearestMark(layer, ["preset"])?.place ?? "configuration";
    return failed([mistake("config.preset", place, "A preset names another preset.", "Write its settings out.")]);
  }
  return ok({
    name,
    settings: { value, marks: layer.marks },
    fill: Object.fromEntries(texts),
  });
}

function textEntry([path, text]: [string, Json | undefined]): [string, string][] {
  return typeof text === "string" ? [[path, text]] : [];
}

function layPreset(settings: Layer, source: string, written: JsonObject, preset: Preset): Layer {
  const { preset: _, ...own } = written;
  const replaced: Path[] = [];
  const value = layOver(preset.settings.value, own, [], replaced);
  const marks = new Map<string, Mark>();
  for (const [key, mark] of preset.settings.marks) {
    const path = pathOf(key);
    if (!replaced.some((above) => above.every((step, index) => path[index] === step)))
      marks.set(markKey(["sources", source, ...path]), mark);
  }
  for (const [key, mark] of settings.marks) marks.set(key, mark);
  const sources = settings.value["sources"];
  return {
    value: { ...settings.value, sources: { ...(isMap(sources) ? sources : {}), [source]: value } },
    marks,
  };
}

function pathOf(key: string): Path {
  const steps: unknown = JSON.parse(key);
  return Array.isArray(steps) ? steps.filter((step) => typeof step === "string" || typeof step === "number") : [];
}

function layOver(lower: JsonObject, upper: JsonObject, path: Path, replaced: Path[]): JsonObject {
  const merged: JsonObject = { ...lower };
  for (const [key, above] of Object.entries(upper)) {
    const here = [...path, key];
    const below = lower[key];
    if (below !== undefined && above === null) delete merged[key];
    else if (isMap(above) && isMap(below) && !isWhole(here) && isSameKind(below, above))
      merged[key] = layOver(below, above, here, replaced);
    else merged[key] = above;
    if (!isMap(merged[key]) || merged[key] === above) replaced.push(here);
  }
  return merged;
}

function isSameKind(below: JsonObject, above: JsonObject): boolean {
  return below["kind"] === undefined || above["kind"] === undefined || below["kind"] === above["kind"];
}

/** Whether what stands here is one thing, so that two of them are not mixed. */
function isWhole(path: Path): boolean {
  return path.at(-1) === "skip" || path.at(-2) === "mapping" || (path.length === 2 && path[0] === "tables");
}

/** The paths that a person has to fill in and has not, where what is around them is the preset's. */
function unfilledIn(value: Json | undefined, preset: Preset): string[] {
  return Object.keys(preset.fill).filter((text) => {
    const path = text.split(".");
    const isTheirs = path.every((_, length) => {
      const [below, around] = [
        valueAt(preset.settings.value, path.slice(0, length)),
        valueAt(value, path.slice(0, length)),
      ];
      return !isMap(below) || (isMap(around) && isSameKind(below, around));
    });
    return isTheirs && (valueAt(value, path) ?? null) === null;
  });
}
