import { deciderOf, type DecisionWords } from "../words.ts";
import { requireReason } from "../../requests/reason.ts";
import { toJson } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { type ExitCode, exitCodes } from "../../base/errors.ts";
import { counted, instantText, withLocalInstants } from "../../report/text.ts";
import { ok, withApplication, withReader, type Invocation } from "../command.ts";
import { byWhom, example, withReason, type Register } from "../command-line.ts";
import { viewOf } from "../output.ts";

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
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const { trustedNow } = await import("../../operate/application.ts");
    const { TrustedTime } = await import("../../base/trusted-time.ts");
    const known = await (await application.inquiry()).knownTimes();
    const time = await trustedNow(application);
    const doubt = time instanceof TrustedTime ? undefined : time;
    if (options.json) {
      const services = known.kept.map(({ service, time: said }) => ({ service, said: toInstant(said) }));
      const newest = known.newest === 0 ? null : toInstant(known.newest);
      output.json(
        toJson({ trusted: doubt === undefined, now: toInstant(application.clock.now()), services, newest, ...doubt }),
      );
    } else if (doubt === undefined) {
      const view = viewOf(output, application.config.zone);
      const said = known.kept.map(({ service, time: at }) => `${service} at ${instantText(toInstant(at), view)}`);
      output.line(`The clock is trusted. It was last compared with ${said.join(" and ")}.`);
    } else {
      output.line(withLocalInstants(`The clock is not trusted, as ${doubt.message}.`, application.config));
      output.line(`  → ${doubt.cure}`);
    }
    return doubt === undefined ? ok : exitCodes.recordsRejected;
  });
}

async function correctCommand(invocation: Invocation, words: DecisionWords): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withApplication(invocation, async (application) => {
    const whose = { by: deciderOf(words.by), reason: requireReason(words.reason) };
    const { correctClock } = await import("../../requests/decisions.ts");
    const correction = await correctClock(application, whose);
    const { rows, first, last } = correction;
    if (options.json) output.json(toJson({ ...correction }));
    else if (correction.spans.length === 0) output.line("The ledger holds no time that is still to come.");
    else {
      output.line(`${counted(rows, "time")} corrected.`);
      if (first !== null && last !== null)
        output.line(`Audit entries ${first} to ${last} keep their times; a new entry says by how much they are wrong.`);
    }
    return ok;
  });
}
