import { statSync } from "node:fs";
import { enableCompileCache, setSourceMapsSupport } from "node:module";
import { join } from "node:path";
import type { ExitCode } from "./base/errors.ts";
import type { StartWeb } from "./operate/health.ts";

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
 * Keeps compiled code beside the bundle, so that the next start is faster. Only the owner of the bundle does: nobody
 * runs code that another user left there. Node starts without it if the folder is read-only.
 */
function keepCompiledCode(): void {
  const folder = import.meta.dirname;
  const isOwn = process.getuid === undefined || statSync(folder).uid === process.getuid();
  if (isOwn && import.meta.filename.endsWith(".cjs")) enableCompileCache(join(folder, "compiled"));
}

async function start(): Promise<void> {
  const { main } = await import("./cli/program.ts");
  // The command line knows no web room; only here both are seen.
  const startWeb: StartWeb = async (deps) => (await import("./web/server.ts")).startWebServer(deps);
  process.exitCode = await main(process.argv.slice(2), process.env, startWeb);
}
