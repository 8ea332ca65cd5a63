import type { ExitCode } from "../../base/errors.ts";
import { ok, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example, wholeNumber } from "../command-line.ts";
import type { Register } from "../command-line.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("dashboard")
    .description(
      "show the pages of the ledger in a browser, beside a daemon: nothing can be decided there; until Ctrl-C",
    )
    .option("--port <n>", "port to listen on; 0: any free one", wholeNumber, 0)
    .addHelpText("after", example("crm-sync dashboard --port 8788"))
    .action((options) => carryOut((invocation) => dashboardCommand(invocation, options.port)));
};

/** `dashboard`: the pages on loopback, read-only, until SIGTERM or SIGINT. */
async function dashboardCommand(invocation: Invocation, port: number): Promise<ExitCode> {
  const { output, signal, startWeb } = invocation;
  return await withReader(invocation, async (application) => {
    const { showDashboard } = await import("../../app/show-dashboard.ts");
    await showDashboard(application, {
      port,
      signal,
      startWeb,
      started: (url) => output.note(`the pages are at ${url}/today; Ctrl-C ends it`),
    });
    return ok;
  });
}
