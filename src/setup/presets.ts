import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isScalar, parseDocument, type Document, type YAMLMap } from "yaml";
import { z } from "zod";
import { projectFolder } from "../base/program-version.ts";

const shippedPresets = join(projectFolder, "config/presets");

/** A source for a well-known CRM, to begin with. */
interface Preset {
  /** The comment at its head: its first line, and the paragraphs after it. */
  title: string;
  text: string;
  /** The settings of the source, with the anchors in them. */
  document: Document.Parsed<YAMLMap.Parsed>;
  /** By path in the settings, what has to be written there. */
  fill: Readonly<Record<string, string>>;
}

const fillSchema = z.record(z.string(), z.string()).default({});

/** The names of the presets. */
export function presetNames(): string[] {
  const files = readdirSync(shippedPresets).filter((name) => name.endsWith(".yaml"));
  return files.map((name) => name.slice(0, -".yaml".length)).sort();
}

/** The preset of that name. */
export function readPreset(name: string): Preset {
  const document = parseDocument<YAMLMap.Parsed>(readFileSync(join(shippedPresets, `${name}.yaml`), "utf8"));
  const { fill } = z.object({ fill: fillSchema }).parse(document.toJS());
  const first = document.contents?.items[0]?.key;
  const [title = "", ...rest] = ((isScalar(first) ? first.commentBefore : null) ?? "").split("\n");
  document.delete("fill");
  const text = rest.map((line) => line.replace(/^ /u, "")).join("\n");
  return { title: title.trim(), text: text.trim().replaceAll(":\n- ", ":\n\n- "), document, fill };
}
