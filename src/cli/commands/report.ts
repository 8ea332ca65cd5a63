import type { Application } from "../../app/application.ts";
import type { ExitCode } from "../../base/errors.ts";
import { usage } from "../../base/errors.ts";
import type { ReportRequest } from "../../report/document.ts";
import { ok, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("report")
    .description("a report of a month: orders, reconciliation, exceptions, rebuild")
    .argument("<kind>", "orders, reconciliation, exceptions or rebuild")
    .requiredOption("--period <month>", "the month, such as 2026-10, in the configured zone")
    .option("--format <format>", "csv or json", "csv")
    .option("--by <date>", "happened or crm-date: which date puts a row into the month", "happened")
    .option("--out <file>", "where to (default: stdout)")
    .addHelpText(
      "after",
      example("crm-sync report reconciliation --period 2026-10 --format csv --out reconciliation.csv"),
    )
    .action((kind, options) => carryOut((invocation) => reportCommand(invocation, kind, options)));
};

export interface ReportWords {
  period: string;
  format: string;
  by: string;
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
  { by, period }: Pick<ReportWords, "period" | "by">,
): Promise<ReportRequest> {
  const { monthPeriod } = await import("../../app/report-files.ts");
  const { reportKinds } = await import("../../report/document.ts");
  const known = reportKinds.find((name) => name === kind);
  if (known === undefined)
    throw usage(`there is no report ${JSON.stringify(kind)}`, `use one of: ${reportKinds.join(", ")}`);
  if (by !== "happened" && by !== "crm-date") throw usage(`--by ${by} is no date of a row`, "use happened or crm-date");
  return { kind: known, period: monthPeriod(period, application.config.zone), by };
}
