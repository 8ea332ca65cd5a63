import type { Reloaded } from "../../app/reload.ts";
import type { ExitCode } from "../../base/errors.ts";
import { ok, withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { describeProblem, safeLines } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("serve")
    .description(
      "run the jobs on their schedule and answer /healthz and /metrics, until SIGTERM; SIGHUP has the configuration " +
        "read again",
    )
    .addHelpText("after", example("crm-sync serve"))
    .action(() => carryOut(serveCommand));
};

/** `serve`: runs the jobs on their schedule and answers /healthz and /metrics, until SIGTERM or SIGINT. */
export async function serveCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, signal, startWeb, onHangUp } = invocation;
  let asked = false;
  // A terminal that closes hangs up too: then nobody wants the program to go on.
  if (!output.interactive)
    onHangUp?.(() => {
      asked = true;
      output.note("SIGHUP: the configuration is read again as soon as no run is on");
    });
  return await withApplication(invocation, async (application) => {
    const { serve } = await import("../../app/serve.ts");
    await serve(application, {
      signal,
      startWeb,
      started: ({ jobs, url }) => output.note(`crm-sync serves ${jobs} scheduled job(s); health at ${url}/healthz`),
      get wantsReload() {
        return asked;
      },
      takeReload() {
        const taken = asked;
        asked = false;
        return taken;
      },
      reloaded: (reloaded) => output.note(reloadedText(reloaded)),
    });
    return ok;
  });
}

function reloadedText(reloaded: Reloaded): string {
  if (reloaded.kind === "refused")
    return [
      "the configuration is not taken over; the one before stays in effect:",
      ...reloaded.problems.map((problem) => describeProblem(problem)),
    ].join("\n");
  const { changed } = reloaded;
  if (changed.length === 0)
    return "the configuration says what it said before; the files that it names are read anew by the next run";
  return safeLines(`the configuration is taken over; changed: ${changed.join(", ")}`);
}
