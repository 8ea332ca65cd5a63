import { decisionOf, type DecisionWords } from "../words.ts";
import { counted, resyncCommand } from "../../report/text.ts";
import { usage, type ExitCode } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { withLedger, type Invocation } from "../command.ts";
import { byWhom, example, withReason, type Register } from "../command-line.ts";

export const addApprove: Register = (program, carryOut) => {
  program
    .command("approve")
    .description("approve a hold; the next run makes its changes")
    .argument("[id]", "the hold, or one operation that is held")
    .option("--run <run>", "everything that this run held because of its own sum or that of days")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      example(
        'crm-sync approve h-1a2b3c4d --reason "asked the customer"',
        'crm-sync approve op_0mup8um80000090da5e --reason "asked the customer: this one"',
        'crm-sync approve --run run_0mup8um8000001f3c2a --reason "a branch was closed"',
      ),
    )
    .action((id, options) => carryOut((invocation) => approveCommand(invocation, id, options)));
  program
    .command("reject")
    .description("reject a hold, approved or not; none of its changes is made")
    .argument("<id>", "the hold")
    .option("--withdraw", "take the rejection back: it waits for a person again")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      example(
        'crm-sync reject h-1a2b3c4d --reason "they are still needed"',
        'crm-sync reject h-1a2b3c4d --withdraw --reason "rejected the wrong one"',
      ),
    )
    .action((id, options) =>
      carryOut((invocation) =>
        options.withdraw === true
          ? withdrawCommand(invocation, id, options)
          : holdCommand(invocation, "reject", id, options),
      ),
    );
};

async function approveCommand(
  invocation: Invocation,
  id: string | undefined,
  words: DecisionWords & { run?: string | undefined },
): Promise<ExitCode> {
  const { run } = words;
  if ((id === undefined) === (run === undefined))
    throw usage("approve takes a hold, an operation or --run RUN, one of them", "crm-sync approve --help");
  if (run !== undefined) return await approveRun(invocation, run, words);
  if (id?.startsWith("op_") === true) return await approveOperation(invocation, id, words);
  return await holdCommand(invocation, "approve", id ?? "", words);
}

async function approveOperation(invocation: Invocation, id: string, words: DecisionWords): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const { reason, by } = decisionOf(words);
    const ledger = await application.existingLedger();
    const hold = await ledger.decisions.approveOperation(id, reason, by);
    const customer = formatKey(hold.customer);
    return {
      json: { operation: id, hold: hold.id, customer, state: "approved" },
      text: `operation ${id} of ${customer} is approved; ${carriesOut(hold, "exactly this one")}`,
    };
  });
}

function carriesOut({ ofUndo, customer }: { ofUndo: boolean; customer?: RecordKey }, what: string): string {
  return ofUndo
    ? `\`crm-sync apply UNDO\`, with the file of the undo, and no other run carries out ${what}`
    : `the next run carries out ${what}${customer === undefined ? "" : `, or at once: ${resyncCommand(customer)}`}`;
}

async function approveRun(invocation: Invocation, run: string, words: DecisionWords): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const { reason, by } = decisionOf(words);
    const ledger = await application.existingLedger();
    const { customers, operations, ofUndo } = await ledger.decisions.approveRun(run, reason, by);
    const those = operations === 1 ? "1 operation" : `${operations} operations`;
    const whose = customers === 1 ? "1 customer" : `${customers} customers`;
    return {
      json: { run, customers, operations, state: "approved" },
      text: `${those} of ${whose} that ${run} held are approved; ${carriesOut({ ofUndo }, "exactly these")}`,
    };
  });
}

async function holdCommand(
  invocation: Invocation,
  verdict: "approve" | "reject",
  id: string,
  words: DecisionWords,
): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const { reason, by } = decisionOf(words);
    const ledger = await application.existingLedger();
    const hold = await ledger.decisions.decide(id, verdict, reason, by);
    const { state, sent } = hold;
    const customer = formatKey(hold.customer);
    const became =
      verdict === "approve"
        ? `approved; ${carriesOut(hold, "exactly this set")}`
        : sent > 0
          ? `rejected, except ${counted(sent, "operation")} sent before`
          : "rejected; none of its changes is made";
    return {
      json: { hold: id, customer, state, ...(sent > 0 && { sent }) },
      text: `hold ${id} of customer ${customer} is ${became}`,
    };
  });
}

async function withdrawCommand(invocation: Invocation, id: string, words: DecisionWords): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const { reason, by } = decisionOf(words);
    const ledger = await application.existingLedger();
    const hold = await ledger.decisions.withdraw(id, reason, by);
    const customer = formatKey(hold.customer);
    return {
      json: { hold: id, customer, state: hold.state },
      text: `the rejection of hold ${id} of customer ${customer} is taken back; it waits for a person again`,
    };
  });
}
