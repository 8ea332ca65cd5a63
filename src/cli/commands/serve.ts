import { deciderOf, decisionOf, type DecisionWords } from "../words.ts";
import { counted } from "../../report/text.ts";
import { type ExitCode, exitCodes } from "../../base/errors.ts";
import { ok, withApplication, withReader, withLedger, type Invocation } from "../command.ts";
import { example, byWhom, withReason, type Register } from "../command-line.ts";
import { requireReason } from "../../requests/reason.ts";
import { callsGoingOnText, resumedText } from "../../report/status.ts";

export const addServe: Register = (program, carryOut) => {
  program
    .command("serve")
    .description("run the jobs on their schedule and answer /healthz and /metrics, until SIGTERM")
    .addHelpText("after", example("crm-sync serve"))
    .action(() => carryOut(serveCommand));
};

async function serveCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, signal, startWeb } = invocation;
  return await withApplication(invocation, async (application) => {
    const { serve } = await import("../../app/serve.ts");
    await serve(application, {
      signal,
      startWeb,
      started: ({ jobs, url }) => {
        output.note(`crm-sync serves ${counted(jobs, "scheduled job")}; health at ${url}/healthz`);
        if (output.interactive) output.note("`crm-sync login` prints a link that signs you in at the pages");
      },
    });
    return ok;
  });
}

export const addLogin: Register = (program, carryOut) => {
  program
    .command("login")
    .description("print a link that signs you in at the pages of `crm-sync serve`, once and within a minute")
    .addHelpText("after", example("crm-sync login"))
    .action(() => carryOut(loginCommand));
};

/** Anybody who may write beside the ledger may decide. */
async function loginCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const person = deciderOf(undefined);
    const { loginLink } = await import("../../operate/login-link.ts");
    const url = loginLink(application, person);
    if (options.json) output.json({ url, person });
    else output.line(url);
    output.note(`signs ${person} in, with the right to decide, once and within a minute`);
    return ok;
  });
}

export const addPause: Register = (program, carryOut) => {
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

/** The heading of the output shows the pause itself. */
async function pauseCommand(invocation: Invocation, words: DecisionWords): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const whose = decisionOf(words);
    const { pause } = await import("../../requests/decisions.ts");
    const { isNew, goingOn } = await pause(application, whose, invocation.signal);
    const calls =
      goingOn === 0 ? "No call is in progress." : `${callsGoingOnText(goingOn)} Pause again to wait for it.`;
    return {
      json: { state: "paused", isNew, callsInProgress: goingOn },
      text: isNew ? calls : `It was paused before, and nothing changed. ${calls}`,
      exit: goingOn === 0 ? ok : exitCodes.unknown,
    };
  });
}

async function resumeCommand(invocation: Invocation, words: DecisionWords): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const by = deciderOf(words.by);
    const reason = words.reason === undefined ? "" : requireReason(words.reason);
    const ledger = await application.existingLedger();
    const word = await ledger.pause.end({ by, reason });
    return {
      json: { state: "resumed", isNew: word?.isNew ?? false, since: word?.since ?? null },
      text: (view) => resumedText(word, view),
    };
  });
}
