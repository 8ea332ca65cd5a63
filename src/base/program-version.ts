import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "./canonical-json.ts";

/**
 * Where package.json and the folder `config` stand. Two folders up, from this file as from one of the bundle
 * (`dist/NAME`).
 */
export const projectFolder = join(import.meta.dirname, "../..");

/** The version of this program, as its package names it. */
export function programVersion(): string {
  const text = readFileSync(join(projectFolder, "package.json"), "utf8");
  const read: unknown = JSON.parse(text);
  if (isJsonObject(read) && typeof read["version"] === "string") return read["version"];
  throw new TypeError(`${projectFolder}/package.json names no version`);
}
