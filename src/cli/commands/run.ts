import { toJson } from "../../base/canonical-json.ts";
import { type ExitCode, usage } from "../../base/errors.ts";
import type { Application } from "../../operate/application.ts";
import type { EndedJob } from "../../app/execute-job.ts";
import type { BoundJob } from "../../operate/job.ts";
import { withApplication, withReader, type Invocation } from "../command.ts";
import { example, repeated, wholeNumber, type Register } from "../command-line.ts";
import { deciderOf, notFound, scopeOf, type ScopeWords } from "../words.ts";
import { reportFailure } from "../output.ts";

const believe = "believe once that this stream";

export const addRun: Register = (program, carryOut) => {
  const run = program
    .command("run")
    .description("run a job now, as the schedule would")
    .argument("[job]", "customers-and-orders, staff, verify, monthly-report, or one of your own")
    .option("--accept-shrink <source/stream=number>", `${believe} lost so many rows`, repeated, [] as string[])
    .option("--accept-new-ids <source/stream=number>", `${believe} has so many new ids`, repeated, [] as string[])
    .option(
      "--accept-changes <source/stream=number>",
      `${believe} changed one field in so many records`,
      repeated,
      [] as string[],
    )
    .option("--accept-drift <source/stream=number>", `${believe} lacks so many fields`, repeated, [] as string[])
    .option("--calls <number>", "with a job of kind verify: make at most so many calls, the oldest readings first")
    .option(
      "--canary <shares>",
      "with a job of kind sync: start with these percentages of the enterprises, such as 5,25, then all",
    )
    .option(
      "--by <name>",
      "with an option that accepts something: who decides (default: the user of the operating system)",
    )
    .addHelpText("after", example("crm-sync run customers-and-orders", "crm-sync run show RUN"))
    .action((job, options) =>
      carryOut(async (invocation) => {
        if (job !== undefined) return await runCommand(invocation, job, options);
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

interface RunWords {
  acceptShrink: readonly string[];
  acceptNewIds: readonly string[];
  acceptChanges: readonly string[];
  acceptDrift: readonly string[];
  by?: string | undefined;
  calls?: string | undefined;
  canary?: string | undefined;
}

function callsOf(text: string, { id, kind }: Pick<BoundJob, "id" | "kind">): number {
  const calls = Number(text);
  if (!Number.isSafeInteger(calls) || calls < 1)
    throw usage(`--calls takes a whole number above 0, not ${text}`, "--calls 500");
  if (kind !== "verify")
    throw usage(`the job ${id} is of kind ${kind}, and only reading back has a budget of calls`, "leave --calls out");
  return calls;
}

async function runCommand(
  invocation: Invocation,
  id: string,
  { by, calls: most, canary, ...accepted }: RunWords,
): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const { acceptancesOf, jobNamed, sharesOf } = await import("../../operate/job.ts");
    const { executeJob } = await import("../../app/execute-job.ts");
    const who = deciderOf(by);
    const job = jobNamed(application.jobs(), id);
    const calls = most === undefined ? undefined : callsOf(most, job);
    const accepts = acceptancesOf(job, {
      rows: accepted.acceptShrink,
      ids: accepted.acceptNewIds,
      changes: accepted.acceptChanges,
      shape: accepted.acceptDrift,
    });
    return await executeJob(application, job, {
      trigger: "hand",
      signal: invocation.signal,
      show: (ended) => showEnded(invocation, application, ended),
      ...(calls === undefined ? {} : { calls }),
      ...(canary === undefined ? {} : { canary: sharesOf(canary, job) }),
      ...(accepts.length === 0 ? {} : { accepts, by: who }),
    });
  });
}

async function showEnded(invocation: Invocation, application: Application, ended: EndedJob): Promise<void> {
  const { output, options } = invocation;
  const { printVerify, showRun } = await import("../run-summary.ts");
  const { verifyJson } = await import("../../operate/ended-json.ts");
  switch (ended.kind) {
    case "sync":
      return await showRun(invocation, application, ended.summary);
    case "verify":
      if (options.json) return output.result(verifyJson(ended.summary));
      return printVerify(output, ended.summary, ended.found, application.config.zone);
    case "report":
      if (options.json) return output.result({ run: ended.run, files: ended.files });
      for (const file of ended.files) output.line(`${file} written`);
      return;
    case "backup": {
      const { backupLines } = await import("../../report/backup.ts");
      if (options.json) return output.result(toJson({ run: ended.run, ...ended.backup }));
      for (const line of backupLines(ended.backup)) output.line(line);
    }
  }
}

async function runShowCommand(invocation: Invocation, id: string): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const inquiry = await application.inquiry();
    const wanted = id === "last" ? (await inquiry.runs({ limit: 1 }))[0]?.id : id;
    const story = wanted === undefined ? undefined : await inquiry.run(wanted);
    if (story === undefined) throw notFound("run", id, "`crm-sync runs` lists them");
    const { runText } = await import("../../report/runs.ts");
    return { json: story, text: async (view) => runText(story, await inquiry.notAttempted(story.run.id), view) };
  });
}

export const addRuns: Register = (program, carryOut) => {
  program
    .command("runs")
    .description("the last runs")
    .option("--limit <number>", "how many", wholeNumber, 20)
    .addHelpText("after", example("crm-sync runs --limit 5"))
    .action((options) => carryOut((invocation) => runsCommand(invocation, options.limit)));
};

async function runsCommand(invocation: Invocation, limit: number): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const runs = await (await application.inquiry()).runs({ limit });
    const { runsText } = await import("../../report/runs.ts");
    return { json: runs, text: (view) => runsText(runs, view) };
  });
}

export const addResync: Register = (program, carryOut) => {
  program
    .command("resync")
    .description("synchronise one customer, the customer of one order, or one source now, and read everything again")
    .option("--customer <id>", "this customer")
    .option("--order <id>", "the customer of this order")
    .option("--source <name>", "everything this source gives")
    .option("--since <time>", "with --source: what changed since then")
    .addHelpText("after", example("crm-sync resync --customer ALFKI"))
    .action((options) => carryOut((invocation) => resyncCommand(invocation, options)));
};

async function resyncCommand(invocation: Invocation, words: ScopeWords): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const scope = scopeOf(application, words);
    if (scope === undefined) throw usage("resync needs to know what", "add --customer ID, --order ID or --source NAME");
    const { resync } = await import("../../requests/plans.ts");
    const { showRun } = await import("../run-summary.ts");
    return await resync(application, scope, {
      signal,
      show: async (summary) => {
        const { unknownRecord } = summary;
        if (unknownRecord !== undefined) reportFailure(output, unknownRecord, options.json, application.config.zone);
        else await showRun(invocation, application, summary);
      },
    });
  });
}
