import { statSync } from "node:fs";
import { enableCompileCache, setSourceMapsSupport } from "node:module";
import { join } from "node:path";
import type { ExitCode } from "./base/errors.ts";
import type { StartWeb } from "./app/health.ts";
import { keepCode } from "./base/kept-code.ts";

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
 * Keeps compiled code, so that a command starts in half the time: beside the bundle, where it is of no other program,
 * for each command what it ran; for the source with the packages. What this user did not put there is not run, so
 * another one's goes without; what is damaged, of another version, or may not be written is passed by.
 */
function keepCompiledCode(): void {
  const folder = import.meta.dirname;
  if (process.getuid !== undefined && statSync(folder).uid !== process.getuid()) return;
  if (folder.endsWith("src")) {
    enableCompileCache(join(folder, "../node_modules/.cache/crm-sync"));
    return;
  }
  const command = process.argv.slice(2).find((word) => /^[a-z]+$/u.test(word));
  const compiled = join(folder, "compiled");
  // Packages that stand beside the bundle are loaded by a command only, and Node alone knows, for a stack trace, which
  // place of a source a place of the bundle is.
  const isTraced = process.env["CRM_SYNC_TRACE"] === "1";
  if (isTraced || command !== undefined) enableCompileCache(compiled);
  if (isTraced) return;
  const keep = keepCode(folder, join(compiled, `${process.version}-${process.arch}-${command ?? "help"}`));
  process.once("exit", (code) => {
    // A command that does not exist would be kept under its name.
    if (code !== (64 satisfies ExitCode)) keep();
  });
}

async function start(): Promise<void> {
  const { main } = await import("./cli/program.ts");
  // The command line knows no web room; only here both are seen.
  const startWeb: StartWeb = async (deps) => (await import("./web/server.ts")).startWebServer(deps);
  process.exitCode = await main(process.argv.slice(2), process.env, startWeb);
}
