import type { Application } from "../../operate/application.ts";
import { toInstant } from "../../base/clock.ts";
import { type ExitCode, usage } from "../../base/errors.ts";
import { addBooks } from "../books-command.ts";
import { formatKey } from "../../crm/keys.ts";
import type { StatementRequest } from "../../report/statement/shape.ts";
import { ok, withReader, type Invocation } from "../command.ts";
import { example, type Register } from "../command-line.ts";
import { parseKey } from "../words.ts";
import type { Output } from "../output.ts";

const kinds = "orders, entitlements, reconciliation, exceptions or run";

const kindsHelp = `
Kinds:
  orders          orders placed, amended, ended and found, with their money; licences granted and revoked
  entitlements    opening + granted - revoked +- adjusted = closing, in units, nodes and seats
  reconciliation  the CRM, the sent changes and the platform, compared item by item
  exceptions      records that wait, were refused, are held or unknown, by age and owner, with the sum at stake
  run             the input and the result of each run
`;

export const addReport: Register = (program, carryOut) => {
  const report = program.command("report");
  report
    .description(`a statement of a period: ${kinds}`)
    .argument("<kind>", kinds)
    .option(
      "--period <period>",
      "2026-10, 2026-Q4, 2026, a day, or a range such as 2026-09..2026-11, in the configured zone (default: all " +
        "months since the ledger began)",
    )
    .option("--as-of <moment>", "as known at a time: 2026-10-31T18:00 (local), with an offset, or a date (its end)")
    .option("--date <which>", "happened (default) or crm-date: which date puts a row into the period")
    .option("--source <name>", "only of this source")
    .option("--customer <id>", "only of this customer")
    .option("--branch <code>", "only of the customers of this branch")
    .option("--product <id>", "only of this product: its number (gmsPid) or its application key")
    .option("--format <format>", "csv, json or html (default: csv; json for --json without --out)")
    .option("--part <name>", "this part of it alone, where each part is a file (default on stdout: the first)")
    .option("--out <file>", "where to; other parts go beside it (default: stdout)")
    .addHelpText(
      "after",
      kindsHelp +
        example(
          "crm-sync report orders --period 2026-10 --format html --out orders-2026-10.html",
          "crm-sync report exceptions --period 2026-10 --as-of 2026-11-05 --customer C-1001",
        ),
    )
    .action((kind, options) => carryOut((invocation) => reportCommand(invocation, kind, options)));
  addBooks(report, carryOut);
};

interface ReportWords {
  period?: string | undefined;
  asOf?: string | undefined;
  date?: string | undefined;
  source?: string | undefined;
  customer?: string | undefined;
  branch?: string | undefined;
  product?: string | undefined;
  format?: string | undefined;
  part?: string | undefined;
  out?: string | undefined;
}

export async function reportCommand(invocation: Invocation, name: string, words: ReportWords): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const { partOf, reportChunks, requireAsked, statementKind, writeReport } =
      await import("../../books/statements.ts");
    const kind = statementKind(name);
    const request = await requestOf(application, words);
    const { format = options.json && words.out === undefined ? "json" : "csv", part, out } = words;
    requireAsked(kind, request, format);
    if (out === undefined) {
      const chunks = reportChunks(application, kind, request, format);
      const { toStdoutFromOneState } = await import("../stdout.ts");
      await toStdoutFromOneState(output, application.ledgerPath, partOf(kind, chunks, part));
      await noteProvisional(output, request, application.clock.now());
      return ok;
    }
    const paths = await writeReport(application, kind, request, { format, path: out, part });
    if (options.json) output.json({ report: kind, period: request.period.label, file: paths[0] ?? out, files: paths });
    else for (const path of paths) output.note(`${path} written`);
    await noteProvisional(output, request, application.clock.now());
    return ok;
  });
}

/** A table alone does not say that its period is not over. */
async function noteProvisional(output: Output, { period, asOf }: StatementRequest, now: number): Promise<void> {
  const { isOver } = await import("../../report/statement/period.ts");
  const at = asOf ?? toInstant(now);
  if (isOver(period, at)) return;
  const { label } = period;
  if (at < period.from) output.note(`${label} has not begun: there is nothing in it yet`);
  else if (asOf === undefined)
    output.note(`${label} is not over: the statement is provisional, figures may still change`);
  else output.note(`${label} was not over then: the statement is provisional`);
}

async function requestOf(
  application: Application,
  { period, asOf, date: by = "happened", source, customer, branch, product }: ReportWords,
): Promise<StatementRequest> {
  if (by !== "happened" && by !== "crm-date")
    throw usage(`--date ${by} is no date of a row`, "use happened or crm-date");
  const { monthsKnown, periodOf } = await import("../../books/statements.ts");
  const { parseMoment } = await import("../../report/statement/period.ts");
  const { tolerancesOf } = await import("../../report/statement/tolerances.ts");
  const { zone, namespace, reports } = application.config;
  return {
    period: await periodOf(application, period ?? (await monthsKnown(application))),
    by,
    filters: {
      source,
      customer: customer === undefined ? undefined : formatKey(parseKey(customer, namespace)),
      branch,
      product,
    },
    tolerances: tolerancesOf(reports.tolerances),
    asOf: asOf === undefined ? undefined : parseMoment(asOf, zone, application.clock.now()),
  };
}
