import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isScalar, parseDocument, type Document, type YAMLMap } from "yaml";
import { z } from "zod";
import { projectFolder } from "../base/program-version.ts";

const shippedPresets = join(projectFolder, "config/presets");

interface Preset {
  title: string;
  text: string;
  /** Settings of the source, including YAML anchors. */
  document: Document.Parsed<YAMLMap.Parsed>;
  /** Settings path → the value for a person to fill in. */
  fill: Readonly<Record<string, string>>;
}

const fillSchema = z.record(z.string(), z.string()).default({});

export function presetNames(): string[] {
  const files = readdirSync(shippedPresets).filter((name) => name.endsWith(".yaml"));
  return files.map((name) => name.slice(0, -".yaml".length)).sort();
}

export function readPreset(name: string): Preset {
  const document = parseDocument<YAMLMap.Parsed>(readFileSync(join(shippedPresets, `${name}.yaml`), "utf8"));
  const { fill } = z.object({ fill: fillSchema }).parse(document.toJS());
  const first = document.contents?.items[0]?.key;
  const [title = "", ...rest] = ((isScalar(first) ? first.commentBefore : null) ?? "").split("\n");
  document.delete("fill");
  const text = rest.map((line) => line.replace(/^ /u, "")).join("\n");
  return { title: title.trim(), text: text.trim().replaceAll(":\n- ", ":\n\n- "), document, fill };
}
