import type { Application } from "../../app/application.ts";
import type { ExitCode } from "../../base/errors.ts";
import { usage } from "../../base/errors.ts";
import type { ReportRequest } from "../../report/document.ts";
import { addBooks } from "./books.ts";
import { ok, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";

export const register: Register = (program, carryOut) => {
  const report = program.command("report");
  report
    .description("a report of a month: orders, reconciliation, exceptions, rebuild")
    .argument("<kind>", "orders, reconciliation, exceptions or rebuild")
    .option("--period <month>", "the month, such as 2026-10, in the configured zone")
    .option("--format <format>", "csv or json", "csv")
    .option("--by <date>", "happened (default) or crm-date: which date puts a row into the month")
    .option("--out <file>", "where to (default: stdout)")
    .addHelpText(
      "after",
      example("crm-sync report reconciliation --period 2026-10 --format csv --out reconciliation.csv"),
    )
    .action((kind, options) => carryOut((invocation) => reportCommand(invocation, kind, options)));
  addBooks(report, carryOut);
};

export interface ReportWords {
  period?: string | undefined;
  format: string;
  by?: string | undefined;
  out?: string | undefined;
}

/** `report KIND --period MONTH`: to a file, or to stdout. */
export async function reportCommand(invocation: Invocation, kind: string, words: ReportWords): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const request = await requestOf(application, kind, words);
    if (words.out === undefined) {
      const { toStdoutFromOneState } = await import("../stdout.ts");
      await toStdoutFromOneState(output, (await application.inquiry()).report(request, words.format));
      return ok;
    }
    const { writeReport } = await import("../../app/report-files.ts");
    await writeReport(application, request, words.format, words.out);
    if (options.json) output.json({ report: kind, period: words.period, file: words.out });
    else output.note(`${words.out} written`);
    return ok;
  });
}

async function requestOf(
  application: Application,
  kind: string,
  { by = "happened", period }: Pick<ReportWords, "period" | "by">,
): Promise<ReportRequest> {
  if (period === undefined) throw usage("a report is about a period", "add --period, such as --period 2026-10");
  const { monthPeriod } = await import("../../app/report-files.ts");
  const { reportKinds } = await import("../../report/document.ts");
  const known = reportKinds.find((name) => name === kind);
  if (known === undefined)
    throw usage(`there is no report ${JSON.stringify(kind)}`, `use one of: ${reportKinds.join(", ")}`);
  if (by !== "happened" && by !== "crm-date") throw usage(`--by ${by} is no date of a row`, "use happened or crm-date");
  return { kind: known, period: monthPeriod(period, application.config.zone), by };
}
