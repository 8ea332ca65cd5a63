import { requireReason } from "../../requests/reason.ts";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes } from "../../base/errors.ts";
import { callsGoingOnText, resumedText } from "../../report/paused.ts";
import { ok, withLedger } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example, withReason } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { viewOf } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("pause")
    .description("write nothing to the services until `resume`; sources and services are read as ever")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      `${example('crm-sync pause --reason "the order service is being repaired"')}
Once it has ended, no call that writes starts any more, in whatever process. It waits for calls that had begun; where
one still goes on after that, it ends with exit 5. Unsent changes wait (exit 4), and the first run after resume sends
them.`,
    )
    .action((words) => carryOut((invocation) => pauseCommand(invocation, words)));
  program
    .command("resume")
    .description("end a pause: the next run sends what waited")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText("after", example("crm-sync resume"))
    .action((words) => carryOut((invocation) => resumeCommand(invocation, words)));
};

interface Words {
  reason?: string | undefined;
  by?: string | undefined;
}

/** `pause`: the heading of its output says since when it is paused, by whom and why. */
async function pauseCommand(invocation: Invocation, words: Words): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withLedger(invocation, async (application) => {
    const whose = { reason: requireReason(words.reason), by: deciderOf(words.by) };
    const { pause } = await import("../../requests/decisions.ts");
    const { isNew, goingOn } = await pause(application, whose, signal);
    const calls =
      goingOn === 0 ? "No call is in progress." : `${callsGoingOnText(goingOn)} Pause again to wait for it.`;
    if (options.json) output.json({ state: "paused", isNew, callsInProgress: goingOn });
    else output.line(isNew ? calls : `It was paused before, and nothing changed. ${calls}`);
    return goingOn === 0 ? ok : exitCodes.unknown;
  });
}

async function resumeCommand(invocation: Invocation, words: Words): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const by = deciderOf(words.by);
    const reason = words.reason === undefined ? "" : requireReason(words.reason);
    const ledger = await application.existingLedger();
    const word = await ledger.pause.end({ by, reason });
    if (options.json) output.json({ state: "resumed", isNew: word?.isNew ?? false, since: word?.since ?? null });
    else output.line(resumedText(word, viewOf(output, application.config.zone)));
    return ok;
  });
}
