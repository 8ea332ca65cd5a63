import { decisionOf, type DecisionWords } from "../words.ts";
import { exitCodes, type ExitCode } from "../../base/errors.ts";
import { ok, withLedger, withReader, type Invocation } from "../command.ts";
import { byWhom, example, withReason, type Register } from "../command-line.ts";

export const addAssumptions: Register = (program, carryOut) => {
  const assumptions = program
    .command("assumptions")
    .description("list the assumptions (A1–A43) about what both contracts leave open, and their evidence")
    .action(() => carryOut(assumptionsCommand));
  assumptions
    .command("accept")
    .description("end a contradiction, once the settings agree with the services")
    .argument("<row>", "the row, such as A16")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText("after", example('crm-sync assumptions accept A17 --reason "sequenceBase is 0 now"'))
    .action((row, options) => carryOut((invocation) => acceptCommand(invocation, row, options)));
};

/** Exit code 3 if a row is contradicted. */
async function assumptionsCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const rows = await (await application.inquiry()).assumptions();
    const { assumptionsText } = await import("../../report/assumptions.ts");
    return {
      json: { assumptions: rows },
      text: (view) => assumptionsText(rows, view),
      exit: rows.some((row) => row.standing === "contradicted") ? exitCodes.recordsRejected : ok,
    };
  });
}

/** The next run repeats operations that the row stopped. */
async function acceptCommand(invocation: Invocation, row: string, words: DecisionWords): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const decision = decisionOf(words);
    const { acceptAssumption } = await import("../../requests/decisions.ts");
    await acceptAssumption(application, row, decision);
    return {
      json: { row, state: "accepted" },
      text: `${row} is accepted; the next run sends again what rests on it`,
    };
  });
}
