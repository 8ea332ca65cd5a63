import { enableCompileCache, setSourceMapsSupport } from "node:module";
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
  // Compiled code is kept in the system's temporary folder: a command starts in half the time.
  enableCompileCache();
  // Places in a stack trace are those of the source, also in the bundle.
  if (process.env["CRM_SYNC_TRACE"] === "1") setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
  // Whatever keeps the program from its end is no success.
  process.exitCode = 1 satisfies ExitCode;
  void start();
}

async function start(): Promise<void> {
  const { main } = await import("./cli/program.ts");
  // The command line knows no web room; only here both are seen.
  const startHealth: StartHealth = async (deps) => (await import("./web/health.ts")).startHealthServer(deps);
  process.exitCode = await main(process.argv.slice(2), process.env, startHealth);
}
