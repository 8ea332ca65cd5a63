import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pages } from "./pages.ts";

const folder = join(import.meta.dirname, "../../docs");
for (const old of globSync("reference/configuration/*.md", { cwd: folder }))
  if (!(old in pages)) rmSync(join(folder, old));
for (const [name, make] of Object.entries(pages)) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), make());
}
