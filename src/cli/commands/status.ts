import { notFired } from "../../operate/dashboard.ts";
import { toJson } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import type { ExitCode } from "../../base/errors.ts";
import { ok, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { viewOf } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("status")
    .description("show the state of the synchronisation, and what needs a person")
    .option("--all", "everything that waits, and the figures of the ledger", false)
    .addHelpText("after", example("crm-sync status --all"))
    .action(({ all }) => carryOut((invocation) => statusCommand(invocation, all)));
};

export async function statusCommand(invocation: Invocation, all: boolean): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const inquiry = await application.inquiry();
    const now = application.clock.now();
    const status = { ...(await inquiry.status()), taken: await inquiry.taken(application.config.limits.removals, now) };
    const scheduled = application.jobs().filter(({ schedule }) => schedule !== undefined);
    const facts = {
      status,
      assumptions: await inquiry.assumptions(),
      jobs: scheduled.map(({ id }) => ({ job: id, clockBehind: false })),
      notFired: notFired(application, status.slots),
    };
    if (options.json) {
      const { waitingOf } = await import("../../report/today.ts");
      const { items } = waitingOf(facts, toInstant(now), Infinity);
      const attention = items.map(({ what, why, since, owner, cure }) => ({ what, why, since, owner, next: cure }));
      output.json(toJson({ ...status, attention }));
      return ok;
    }
    const { statusText } = await import("../../report/status-text.ts");
    output.line(statusText(facts, toInstant(now), { all, view: viewOf(output, application.config.zone) }));
    return ok;
  });
}
