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
  // Only the owner may read new files, whatever umask the shell has. Code that permits a group does so explicitly.
  process.umask(0o077);
  keepCompiledCode();
  // Stack traces show source positions, also in the bundle.
  if (process.env["CRM_SYNC_TRACE"] === "1") setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
  // An unexpected end is a failure.
  process.exitCode = 1 satisfies ExitCode;
  void start();
}

/**
 * Caches compiled code beside the bundle for a faster start. Only for the owner: nobody runs code that another user
 * left there. A read-only folder is fine.
 */
function keepCompiledCode(): void {
  const folder = import.meta.dirname;
  const isOwn = process.getuid === undefined || statSync(folder).uid === process.getuid();
  if (isOwn && import.meta.filename.endsWith(".cjs")) enableCompileCache(join(folder, "compiled"));
}

async function start(): Promise<void> {
  const { main } = await import("./cli/program.ts");
  // The command line must not import the web folder, so it gets the function here.
  const startWeb: StartWeb = async (deps) => (await import("./web/server.ts")).startWebServer(deps);
  process.exitCode = await main(process.argv.slice(2), process.env, startWeb);
}
