import { deciderOf, decisionOf, type DecisionWords } from "./words.ts";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { resolve } from "node:path";
import { z } from "zod";
import type { Printed } from "../books/books.ts";
import type { Blocker } from "../report/books.ts";
import { toJson } from "../base/canonical-json.ts";
import { type ExitCode, exitCodes, usage } from "../base/errors.ts";
import { withLocalInstants } from "../report/text.ts";
import { ok, withLedger, withReader, type Invocation } from "./command.ts";
import { byWhom, example, wholeNumber, withReason, type CarryOut } from "./command-line.ts";
import { viewOf } from "./output.ts";
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
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const whose = {
      by: deciderOf(words.by),
      reason: words.reason === undefined ? undefined : requireReason(words.reason),
    };
    const { closeBooks } = await import("../books/books.ts");
    const made = await closeBooks(application, period, whose);
    if (made.closed === undefined) {
      if (options.json) output.json({ period, closed: false, blockers: toJson(made.blockers) });
      else {
        const open = made.blockers.filter(({ signedOff }) => signedOff === null);
        output.line(`${period} is not closed: ${counted(open.length)} in the way`);
        await showBlockers(invocation, made.blockers, period, application.config.zone);
      }
      return exitCodes.held;
    }
    const { closed, files, signedOff } = made;
    if (options.json) output.json(toJson({ ...closed, files, signedOff }));
    else {
      output.line(`${period} is closed (closing ${closed.closing}): ${files.length} files are frozen`);
      for (const { name, sha256 } of files) output.line(`  ${sha256}  ${name}`);
      output.line(`  → crm-sync report print ${period} --out FOLDER prints them, now and next year`);
    }
    return ok;
  });
}

function counted(count: number): string {
  return count === 1 ? "1 thing stands" : `${count} things stand`;
}

async function showBlockers(
  { output }: Invocation,
  blockers: readonly Blocker[],
  period: string,
  zone: string,
): Promise<void> {
  const { blockersText } = await import("../report/books.ts");
  output.line(blockersText(blockers, period, viewOf(output, zone)).trimEnd());
}

async function reopenCommand(invocation: Invocation, period: string, words: Words): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const whose = decisionOf(words);
    const reopened = await (await application.existingLedger()).books.reopen(period, whose);
    if (options.json) output.json({ ...reopened, state: "reopened" });
    else output.line(`${period} is open again; closing ${reopened.closing} and its files stay as they are`);
    return ok;
  });
}

async function blockersCommand(invocation: Invocation, period: string): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const { blockersOf } = await import("../books/books.ts");
    const blockers = await blockersOf(application, period);
    const open = blockers.filter(({ signedOff }) => signedOff === null);
    if (options.json) output.json(toJson({ period, blockers }));
    else if (blockers.length === 0) output.line(`nothing blocks the close of ${period}`);
    else await showBlockers(invocation, blockers, period, application.config.zone);
    return open.length === 0 ? ok : exitCodes.held;
  });
}

async function signOffCommand(
  invocation: Invocation,
  period: string,
  ids: readonly string[],
  words: Words,
): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const whose = decisionOf(words);
    const { signOff } = await import("../books/books.ts");
    const signed = await signOff(application, period, ids, whose);
    if (options.json) {
      output.json(toJson({ period, signedOff: signed }));
      return ok;
    }
    const { instantText } = await import("../report/text.ts");
    const view = viewOf(output, application.config.zone);
    for (const { id, by, at, already } of signed)
      output.line(
        already
          ? `${id} was signed off by ${by} already (${instantText(at, view)}); nothing was written`
          : `${id} was signed off by ${by}`,
      );
    return ok;
  });
}

async function closingsCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const closings = await (await application.inquiry()).closings();
    if (options.json) output.json(toJson(closings));
    else {
      const { closingsText } = await import("../report/books.ts");
      output.line(closingsText(closings, viewOf(output, application.config.zone)).trimEnd());
    }
    return ok;
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
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const { printBooks } = await import("../books/books.ts");
    const printed = await printBooks(application, period, { closing, folder: out });
    if (options.json) output.json(toJson({ ...printed }));
    else {
      const { closing: made, files } = printed;
      output.line(`${period}, closing ${made.closing}: ${files.length} files as they were frozen, in ${resolve(out)}`);
      const anew = printed.files.some(({ kind, format }) => format === "json" && isComputed(printed, kind));
      if (printed.different.length === 0 && anew)
        output.line("computed again from the ledger: the figures are the same as those that were frozen");
      const { zone } = application.config;
      for (const { kind, why } of printed.notCompared)
        output.line(withLocalInstants(`${kind} was not computed anew: ${why}`, { zone }));
      for (const { kind, line, frozen, now } of printed.different) {
        output.line(`BAD: ${kind}, computed again, differs from the frozen one; line ${line} of its JSON is the first`);
        output.line(`  frozen  ${frozen}`);
        output.line(`  now     ${now}`);
      }
      if (printed.different.length > 0)
        output.line(
          "  → what is printed is what was frozen; keep the ledger as it is, and compare it with a backup: " +
            "`crm-sync audit verify` says whether its record was changed too",
        );
    }
    return printed.different.length === 0 ? ok : exitCodes.ledgerRefused;
  });
}
