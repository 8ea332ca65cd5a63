import { toJson } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { usage } from "../../base/errors.ts";
import type { Application } from "../../app/application.ts";
import type { EndedJob } from "../../app/execute-job.ts";
import { ok, withApplication, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example, repeated } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { notFound } from "../not-found.ts";
import { reportFailure, viewOf } from "../output.ts";

export const register: Register = (program, carryOut) => {
  const run = program
    .command("run")
    .description("run a job now, as the schedule would")
    .argument("[job]", "customers-and-orders, staff, verify, monthly-report, or one of your own")
    .option(
      "--accept-shrink <source>",
      "believe once that this source has really lost its records (may be repeated)",
      repeated,
      [] as string[],
    )
    .option("--by <name>", "with --accept-shrink: who decides (default: the user of the operating system)")
    .addHelpText("after", example("crm-sync run customers-and-orders", "crm-sync run show RUN"))
    .action((job, options) =>
      carryOut(async (invocation) => {
        if (job !== undefined) return await runCommand(invocation, job, options.acceptShrink, options.by);
        const problem = usage("run needs the name of a job", "crm-sync run customers-and-orders");
        return reportFailure(invocation.output, problem, invocation.options.json);
      }),
    );
  run
    .command("show")
    .description("everything about one run")
    .argument("<id>", "a run's id, or `last`")
    .addHelpText("after", example("crm-sync run show last"))
    .action((id) => carryOut((invocation) => runShowCommand(invocation, id)));
};

/** `run JOB`: what the schedule runs, now. */
export async function runCommand(
  invocation: Invocation,
  id: string,
  acceptShrink: readonly string[],
  by?: string,
): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const { jobNamed } = await import("../../app/jobs.ts");
    const { executeJob } = await import("../../app/execute-job.ts");
    const who = deciderOf(by);
    const job = jobNamed(application.jobs(), id);
    const unknown = acceptShrink.find((name) => !job.sources.includes(name));
    if (unknown !== undefined)
      throw usage(`the job ${id} reads no source ${unknown}`, `use one of: ${job.sources.join(", ")}`);
    return await executeJob(application, job, {
      trigger: "hand",
      signal: invocation.signal,
      show: (ended) => showEnded(invocation, application, ended),
      ...(acceptShrink.length === 0 ? {} : { acceptShrink, by: who }),
    });
  });
}

async function showEnded(invocation: Invocation, application: Application, ended: EndedJob): Promise<void> {
  const { output, options } = invocation;
  const { printVerify, showRun } = await import("../run-summary.ts");
  const { verifyJson } = await import("../../app/ended-json.ts");
  switch (ended.kind) {
    case "sync":
      return await showRun(invocation, application, ended.summary);
    case "verify":
      return options.json ? output.result(verifyJson(ended.summary)) : printVerify(output, ended.summary, ended.found);
    case "report":
      if (options.json) output.result({ run: ended.run, files: ended.files });
      else for (const file of ended.files) output.line(`${file} written`);
  }
}

async function runShowCommand(invocation: Invocation, id: string): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const inquiry = await application.inquiry();
    const wanted = id === "last" ? (await inquiry.runs({ limit: 1 }))[0]?.id : id;
    const story = wanted === undefined ? undefined : await inquiry.run(wanted);
    if (story === undefined) throw notFound("run", id, "`crm-sync runs` lists them");
    if (options.json) {
      output.json(toJson(story));
      return ok;
    }
    const { runText } = await import("../../report/runs.ts");
    output.line(runText(story, viewOf(output, application.config.zone)));
    return ok;
  });
}
