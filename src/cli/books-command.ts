import { deciderOf, decisionOf, type DecisionWords } from "./words.ts";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { resolve } from "node:path";
import { z } from "zod";
import type { Printed } from "../books/books.ts";
import type { Blocker } from "../report/books.ts";
import { type ExitCode, exitCodes, usage } from "../base/errors.ts";
import { counted, instantText, withLocalInstants, type View } from "../report/text.ts";
import { ok, withLedger, withReader, type Invocation } from "./command.ts";
import { byWhom, example, wholeNumber, withReason, type CarryOut } from "./command-line.ts";
import { requireReason } from "../requests/reason.ts";

export function addBooks(report: CommandUnknownOpts, carryOut: CarryOut): void {
  // `report` has options of the same names and takes them in any position.
  const given = (own: Words): Words => ({ ...shared.parse(report.opts()), ...own });
  report.hook("preAction", refuseOthers);
  report
    .command("close")
    .description("freeze the statements of a period, with the head of the audit log that proves them")
    .argument("<period>", "the period, such as 2026-10, in the configured zone")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText("after", example("crm-sync report close 2026-10 --by anna.lee"))
    .action((period, options) => carryOut((invocation) => closeCommand(invocation, period, given(options))));
  report
    .command("reopen")
    .description("open a closed period again; its closing stays")
    .argument("<period>", "the period")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText("after", example('crm-sync report reopen 2026-10 --reason "an amount was wrong in the CRM"'))
    .action((period, options) => carryOut((invocation) => reopenCommand(invocation, period, given(options))));
  report
    .command("blockers")
    .description("list what blocks the close of a period")
    .argument("<period>", "the period")
    .addHelpText("after", example("crm-sync report blockers 2026-10"))
    .action((period) => carryOut((invocation) => blockersCommand(invocation, period)));
  report
    .command("sign-off")
    .description("accept a blocker of a period, or an exception that was open at its end")
    .argument("<period>", "the period")
    .argument("<id...>", "its id, from `report blockers` or `sign_off_id` of `report exceptions`")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      example(
        'crm-sync report sign-off 2026-10 hold:h-1a2b3c4d --reason "decided in November" --by anna.lee',
        'crm-sync report sign-off 2026-10 quarantined:q-1a2b3c4d5e --reason "not ours to correct" --by anna.lee',
      ),
    )
    .action((period, ids, options) =>
      carryOut((invocation) => signOffCommand(invocation, period, ids, given(options))),
    );
  report
    .command("closings")
    .description("the periods that were closed, and opened again")
    .addHelpText("after", example("crm-sync report closings"))
    .action(() => carryOut(closingsCommand));
  report
    .command("print")
    .description("the frozen statements of a closed period again, byte for byte, and whether the ledger still says so")
    .argument("<period>", "the period")
    .option("--closing <number>", "which closing of it, where it was opened again (default: the last)", wholeNumber)
    .option("--out <folder>", "the folder to write them to, made if missing (default: the present one)")
    .addHelpText("after", example("crm-sync report print 2026-10 --out october"))
    .action((period, options) =>
      carryOut((invocation) => printCommand(invocation, period, { ...options, ...given(options) })),
    );
}

/** Otherwise options of `report` that the subcommand lacks would be ignored silently. */
function refuseOthers(report: CommandUnknownOpts, command: CommandUnknownOpts): void {
  const own = new Set(command.options.map((option) => option.attributeName()));
  const other = report.options.find((option) => {
    const name = option.attributeName();
    return report.getOptionValueSource(name) !== undefined && !own.has(name);
  });
  if (other === undefined) return;
  const name = `crm-sync report ${command.name()}`;
  throw usage(`\`${name}\` has no option ${other.long}`, `leave it out; \`${name} --help\` shows its options`);
}

interface Words extends DecisionWords {
  out?: string | undefined;
}

const shared = z.object({ by: z.string().optional(), out: z.string().optional() });

async function closeCommand(invocation: Invocation, period: string, words: Words): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const whose = {
      by: deciderOf(words.by),
      reason: words.reason === undefined ? undefined : requireReason(words.reason),
    };
    const { closeBooks } = await import("../books/books.ts");
    const made = await closeBooks(application, period, whose);
    if (made.closed === undefined) {
      const { blockers } = made;
      const open = blockers.filter(({ signedOff }) => signedOff === null).length;
      const text = async (view: View): Promise<string> =>
        `${period} is not closed: ${counted(open, "thing stands", "things stand")} in the way\n` +
        (await blockersOn(blockers, period, view));
      return { json: { period, closed: false, blockers }, text, exit: exitCodes.held };
    }
    const { closed, files, signedOff } = made;
    const lines = [
      `${period} is closed (closing ${closed.closing}): ${files.length} files are frozen`,
      ...files.map(({ name, sha256 }) => `  ${sha256}  ${name}`),
      `  → crm-sync report print ${period} --out FOLDER prints them, now and next year`,
    ];
    return { json: { ...closed, files, signedOff }, text: lines.join("\n") };
  });
}

async function blockersOn(blockers: readonly Blocker[], period: string, view: View): Promise<string> {
  const { blockersText } = await import("../report/books.ts");
  return blockersText(blockers, period, view).trimEnd();
}

async function reopenCommand(invocation: Invocation, period: string, words: Words): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const whose = decisionOf(words);
    const reopened = await (await application.existingLedger()).books.reopen(period, whose);
    return {
      json: { ...reopened, state: "reopened" },
      text: `${period} is open again; closing ${reopened.closing} and its files stay as they are`,
    };
  });
}

async function blockersCommand(invocation: Invocation, period: string): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const { blockersOf } = await import("../books/books.ts");
    const blockers = await blockersOf(application, period);
    const none = `nothing blocks the close of ${period}`;
    return {
      json: { period, blockers },
      text: async (view) => (blockers.length === 0 ? none : await blockersOn(blockers, period, view)),
      exit: blockers.every(({ signedOff }) => signedOff !== null) ? ok : exitCodes.held,
    };
  });
}

async function signOffCommand(
  invocation: Invocation,
  period: string,
  ids: readonly string[],
  words: Words,
): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const whose = decisionOf(words);
    const { signOff } = await import("../books/books.ts");
    const signedOff = await signOff(application, period, ids, whose);
    const line = ({ id, by, at, already }: (typeof signedOff)[number], view: View): string =>
      `${id} was signed off by ${by}${already ? ` already (${instantText(at, view)}); nothing was written` : ""}`;
    return {
      json: { period, signedOff },
      text: (view) => signedOff.map((one) => line(one, view)).join("\n"),
    };
  });
}

async function closingsCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const closings = await (await application.inquiry()).closings();
    const { closingsText } = await import("../report/books.ts");
    return { json: closings, text: (view) => closingsText(closings, view).trimEnd() };
  });
}

function isComputed({ notCompared }: Printed, kind: string): boolean {
  return notCompared.every((one) => one.kind !== kind);
}

async function printCommand(
  invocation: Invocation,
  period: string,
  { closing, out = "." }: Words & { closing?: number | undefined },
): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const { printBooks } = await import("../books/books.ts");
    const printed = await printBooks(application, period, { closing, folder: out });
    return {
      json: printed,
      text: (view) => printedLines(printed, period, out, view).join("\n"),
      exit: printed.different.length === 0 ? ok : exitCodes.ledgerRefused,
    };
  });
}

function printedLines(printed: Printed, period: string, out: string, view: View): string[] {
  const { closing, files, different, notCompared } = printed;
  const anew = files.some(({ kind, format }) => format === "json" && isComputed(printed, kind));
  return [
    `${period}, closing ${closing.closing}: ${files.length} files as they were frozen, in ${resolve(out)}`,
    ...(different.length === 0 && anew
      ? ["computed again from the ledger: the figures are the same as those that were frozen"]
      : []),
    ...notCompared.map(({ kind, why }) => withLocalInstants(`${kind} was not computed anew: ${why}`, view)),
    ...different.flatMap(({ kind, line, frozen, now }) => [
      `BAD: ${kind}, computed again, differs from the frozen one; line ${line} of its JSON is the first`,
      `  frozen  ${frozen}`,
      `  now     ${now}`,
    ]),
    ...(different.length === 0
      ? []
      : [
          "  → what is printed is what was frozen; keep the ledger as it is, and compare it with a backup: " +
            "`crm-sync audit verify` says whether its record was changed too",
        ]),
  ];
}
