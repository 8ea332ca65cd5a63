import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pages } from "./pages.ts";

for (const [name, make] of Object.entries(pages)) writeFileSync(join(import.meta.dirname, "../../docs", name), make());
