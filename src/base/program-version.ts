import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "./canonical-json.ts";
import { projectFolder } from "./project-folder.ts";

/** The version of this program, as its package names it. */
export function programVersion(): string {
  const text = readFileSync(join(projectFolder, "package.json"), "utf8");
  const read: unknown = JSON.parse(text);
  if (isJsonObject(read) && typeof read["version"] === "string") return read["version"];
  throw new TypeError(`${projectFolder}/package.json names no version`);
}
