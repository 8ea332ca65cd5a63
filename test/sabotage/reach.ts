import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { importsOf } from "../architecture/rules.ts";
import { project } from "./break.ts";

/** Who imports each file of the program and its tests, by absolute path; types do not count. */
function importers(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const folder of ["src", "jobs", "migrations", "test"]) {
    for (const entry of readdirSync(join(project, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
      const path = join(entry.parentPath, entry.name);
      for (const { specifier, typeOnly } of importsOf(readFileSync(path, "utf8"))) {
        if (typeOnly || !specifier.startsWith(".")) continue;
        const imported = join(dirname(path), specifier);
        const list = found.get(imported);
        if (list === undefined) found.set(imported, [path]);
        else list.push(path);
      }
    }
  }
  return found;
}

/** For a file of the program: itself and every file that it reaches through imports, by absolute path. */
export function reachOf(): (file: string) => ReadonlySet<string> {
  const by = importers();
  return (file) => {
    const reached = new Set([join(project, file)]);
    for (const path of reached) for (const importer of by.get(path) ?? []) reached.add(importer);
    return reached;
  };
}
