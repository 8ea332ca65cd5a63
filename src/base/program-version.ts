import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "./canonical-json.ts";

/** With package.json and `config`. Two folders up from this file, and from a bundle (`dist/NAME`). */
export const projectFolder = join(import.meta.dirname, "../..");

export function programVersion(): string {
  const text = readFileSync(join(projectFolder, "package.json"), "utf8");
  const read: unknown = JSON.parse(text);
  if (isJsonObject(read) && typeof read["version"] === "string") return read["version"];
  throw new TypeError(`${projectFolder}/package.json names no version`);
}
