import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pages } from "./make/pages.ts";

for (const [name, make] of Object.entries(pages)) writeFileSync(join(import.meta.dirname, name), make());
