/**
 * `npm run build` makes the bundle that `bin/crm-sync` runs; with `--alone`, as for a package, no other one stays.
 * The launcher itself calls it with `--because REASON`, where there is none or the sources changed: then one line on
 * stderr says at once what is done, and at its end what came of it.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dirname, "../..");
const { values } = parseArgs({ options: { because: { type: "string" }, alone: { type: "boolean" } } });

const started = performance.now();
if (values.because !== undefined) process.stderr.write(`crm-sync: Preparing (once): ${values.because} … `);
try {
  // Whatever is wrong with it, the launcher says one line and starts from source.
  const { build } = await import("./bundle.ts");
  const { main, files, bytes } = await build(root, { alone: values.alone === true });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  if (values.because === undefined)
    process.stdout.write(`${main}: ${files} files, ${(bytes / 1e6).toFixed(1)} MB, in ${seconds} s\n`);
  else process.stderr.write(`done in ${seconds} s\n`);
} catch (error) {
  if (values.because === undefined) throw error;
  const [why = ""] = String(error instanceof Error ? error.message : error).split("\n");
  process.stderr.write(
    `it cannot be built (${why}), so the program starts from source, ` +
      `more slowly; \`npm run build\` in ${root} says more\n`,
  );
  process.exitCode = 1;
}
