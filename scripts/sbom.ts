/**
 * `npm run sbom` prints the bill of materials (CycloneDX) of what the program runs with: every package of the lock file
 * but those for development alone. npm says it of all of them; what it leaves out with `--omit dev` is also what both
 * the program and its development need.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const root = join(import.meta.dirname, "..");
const folder = "node_modules/";

const packageSchema = z.object({ name: z.string() });
const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ version: z.string(), dev: z.boolean().optional() })),
});
const billSchema = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({ name: z.string(), "bom-ref": z.string() }) }),
  components: z.array(z.looseObject({ "bom-ref": z.string(), name: z.string(), version: z.string() })),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

const { name } = packageSchema.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
const lock = lockSchema.parse(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
const needed = new Set(
  Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== "" && dev !== true)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf(folder) + folder.length)}@${version}`),
);

const words = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--package-lock-only"];
const bill = billSchema.parse(
  JSON.parse(execFileSync("npm", words, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })),
);
const components = bill.components.filter((item) => needed.has(`${item.name}@${item.version}`));
const kept = new Set([bill.metadata.component["bom-ref"], ...components.map((item) => item["bom-ref"])]);
const dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map((item) => ({ ...item, dependsOn: item.dependsOn.filter((ref) => kept.has(ref)) }));
const metadata = { ...bill.metadata, component: { ...bill.metadata.component, name } };
process.stdout.write(`${JSON.stringify({ ...bill, metadata, components, dependencies }, null, 2)}\n`);
