import { decisionOf, type DecisionWords } from "../words.ts";
import { toInstant } from "../../base/clock.ts";
import { type ExitCode, exitCodes } from "../../base/errors.ts";
import { counted, instantText, withLocalInstants, type View } from "../../report/text.ts";
import { withApplication, withReader, type Invocation } from "../command.ts";
import { byWhom, example, withReason, type Register } from "../command-line.ts";

export const addClock: Register = (program, carryOut) => {
  const clock = program
    .command("clock")
    .description("whether this computer's clock is trusted, by what services said last and by the ledger")
    .addHelpText("after", example("crm-sync clock"))
    .action(() => carryOut(clockCommand));
  clock
    .command("correct")
    .description("correct times in the future, which a clock that was ahead wrote into the ledger")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      `${example('crm-sync clock correct --reason "the clock was in 2036 after a new battery"')}
A service is asked what time it is: it has to agree with this computer. Audit entries keep their times; one more entry
says which times are wrong, by how much, and who decided it.`,
    )
    .action((words) => carryOut((invocation) => correctCommand(invocation, words)));
};

async function clockCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const { trustedNow } = await import("../../operate/application.ts");
    const { TrustedTime } = await import("../../base/trusted-time.ts");
    const known = await (await application.inquiry()).knownTimes();
    const time = await trustedNow(application);
    const doubt = time instanceof TrustedTime ? undefined : time;
    const services = known.kept.map(({ service, time: said }) => ({ service, said: toInstant(said) }));
    const newest = known.newest === 0 ? null : toInstant(known.newest);
    const json = { trusted: doubt === undefined, now: toInstant(application.clock.now()), services, newest, ...doubt };
    if (doubt !== undefined) {
      const text = (view: View) =>
        `${withLocalInstants(`The clock is not trusted, as ${doubt.message}.`, view)}\n  → ${doubt.cure}`;
      return { json, text, exit: exitCodes.recordsRejected };
    }
    const text = (view: View): string => {
      const said = services.map(({ service, said: at }) => `${service} at ${instantText(at, view)}`);
      return `The clock is trusted. It was last compared with ${said.join(" and ")}.`;
    };
    return { json, text };
  });
}

async function correctCommand(invocation: Invocation, words: DecisionWords): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const { correctClock } = await import("../../requests/decisions.ts");
    const correction = await correctClock(application, decisionOf(words));
    const { rows, first, last, spans } = correction;
    const kept =
      first === null || last === null
        ? ""
        : `\nAudit entries ${first} to ${last} keep their times; a new entry says by how much they are wrong.`;
    const none = "The ledger holds no time that is still to come.";
    return { json: correction, text: spans.length === 0 ? none : `${counted(rows, "time")} corrected.${kept}` };
  });
}
