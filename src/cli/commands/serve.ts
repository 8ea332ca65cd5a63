import { counted } from "../../report/text.ts";
import type { ExitCode } from "../../base/errors.ts";
import { systemUser } from "../../base/who.ts";
import { ok, withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("serve")
    .description("run the jobs on their schedule and answer /healthz and /metrics, until SIGTERM")
    .addHelpText("after", example("crm-sync serve"))
    .action(() => carryOut(serveCommand));
};

/** `serve`: runs the jobs on their schedule and answers /healthz and /metrics, until SIGTERM or SIGINT. */
export async function serveCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, signal, startWeb } = invocation;
  return await withApplication(invocation, async (application) => {
    const { serve } = await import("../../app/serve.ts");
    await serve(application, {
      signal,
      startWeb,
      started: ({ jobs, url, link }) => {
        output.note(`crm-sync serves ${counted(jobs, "scheduled job")}; health at ${url}/healthz`);
        // The link signs in, so it is for the person at the terminal, and stands in no log.
        const signIn = output.stdout.isTTY === true ? link(systemUser()) : undefined;
        if (signIn !== undefined) output.line(`sign in, once and within a minute: ${signIn}`);
      },
    });
    return ok;
  });
}
