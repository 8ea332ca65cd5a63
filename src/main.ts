import { statSync } from "node:fs";
import { enableCompileCache, setSourceMapsSupport } from "node:module";
import { join } from "node:path";
import type { ExitCode } from "./base/errors.ts";
import type { StartHealth } from "./app/health.ts";

const oldest = 26;
const major = Number(process.versions.node.split(".")[0]);

if (major < oldest) {
  process.stderr.write(
    `crm-sync needs Node ${oldest} or newer, and this is ${process.versions.node}.\n` +
      "Start it with bin/crm-sync, which uses the Node that `npm ci` installs.\n",
  );
  process.exitCode = 78 satisfies ExitCode;
} else {
  // Whatever is written is for the owner alone, whatever the shell says; where a group may read, it is given that
  // right.
  process.umask(0o077);
  keepCompiledCode();
  // Places in a stack trace are those of the source, also in the bundle.
  if (process.env["CRM_SYNC_TRACE"] === "1") setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
  // Whatever keeps the program from its end is no success.
  process.exitCode = 1 satisfies ExitCode;
  void start();
}

/**
 * Has Node keep compiled code, so that a command starts in half the time: beside the bundle, where it is of no other
 * program, or with the packages, for the source. What this user did not put there is not run, so another one's goes
 * without; Node passes by what is damaged, of another version, or may not be written.
 */
function keepCompiledCode(): void {
  const folder = import.meta.dirname;
  if (process.getuid !== undefined && statSync(folder).uid !== process.getuid()) return;
  enableCompileCache(join(folder, folder.endsWith("src") ? "../node_modules/.cache/crm-sync" : "compiled"));
}

async function start(): Promise<void> {
  const { main } = await import("./cli/program.ts");
  // The command line knows no web room; only here both are seen.
  const startHealth: StartHealth = async (deps) => (await import("./web/health.ts")).startHealthServer(deps);
  process.exitCode = await main(process.argv.slice(2), process.env, startHealth);
}
