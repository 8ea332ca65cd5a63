import { toJson, type Json } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { type ExitCode, exitCodes } from "../../base/errors.ts";
import { ok, withReader, withLedger, withApplication, type Invocation } from "../command.ts";
import { example, type Register } from "../command-line.ts";
import { viewOf, safeLines } from "../output.ts";

export const addStatus: Register = (program, carryOut) => {
  program
    .command("status")
    .description("show the state of the synchronisation, and what needs a person")
    .option("--all", "everything that waits, and the figures of the ledger", false)
    .addHelpText("after", example("crm-sync status --all"))
    .action(({ all }) => carryOut((invocation) => statusCommand(invocation, all)));
};

async function statusCommand(invocation: Invocation, all: boolean): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const inquiry = await application.inquiry();
    const now = application.clock.now();
    const status = { ...(await inquiry.status()), taken: await inquiry.taken(application.config.limits.removals, now) };
    const { notFired } = await import("../../operate/dashboard.ts");
    const scheduled = application.jobs().filter(({ schedule }) => schedule !== undefined);
    const facts = {
      status,
      assumptions: await inquiry.assumptions(),
      jobs: scheduled.map(({ id }) => ({ job: id })),
      notFired: notFired(application, status.slots),
    };
    if (options.json) {
      const { waitingOf } = await import("../../report/today.ts");
      const { items } = waitingOf(facts, toInstant(now), Infinity);
      const attention = items.map(({ what, why, since, owner, cure }) => ({ what, why, since, owner, next: cure }));
      output.json(toJson({ ...status, attention }));
      return ok;
    }
    const { statusText } = await import("../../report/status-text.ts");
    output.line(statusText(facts, toInstant(now), { all, view: viewOf(output, application.config.zone) }));
    return ok;
  });
}

export const addAlerts: Register = (program, carryOut) => {
  const alerts = program
    .command("alerts")
    .description("list open issues: since when, and who got an alert by which channel")
    .addHelpText("after", example("crm-sync alerts", "crm-sync alerts test on-call"))
    .action(() => carryOut(alertsCommand));
  alerts
    .command("test")
    .description("send a test message by each channel, or by one, and show the answer")
    .argument("[channel]", "the name of the channel; its kind, where it has no name")
    .addHelpText("after", example("crm-sync alerts test"))
    .action((channel) => carryOut((invocation) => alertsTestCommand(invocation, channel)));
};

async function alertsCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const { alertsNow } = await import("../../operate/notify/configured.ts");
    const facts = await alertsNow(application, await application.inquiry());
    if (options.json) {
      output.json(toJson(facts));
      return ok;
    }
    const { alertsText } = await import("../../report/alerts.ts");
    const now = toInstant(application.clock.now());
    output.line(alertsText(facts, now, viewOf(output, application.config.zone)));
    return ok;
  });
}

/** Exit code 1 if a channel did not deliver, or not to everybody. */
async function alertsTestCommand(invocation: Invocation, named: string | undefined): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    application.jobs();
    const { testAlerts } = await import("../../operate/notify/configured.ts");
    const tested = await testAlerts(application, named);
    if (options.json) output.json({ channels: toJson(tested) });
    else
      for (const { channel, kind, problem, partly } of tested) {
        const name = channel === kind ? channel : `${channel} (${kind})`;
        const failed = problem ?? partly;
        output.line(safeLines(failed === null ? `good  ${name}: delivered` : `BAD   ${name}: ${failed}`));
        if (failed !== null) output.line(`      → ${cureOf(kind)}`);
      }
    return tested.some(({ problem, partly }) => problem !== null || partly !== null) ? exitCodes.other : ok;
  });
}

function cureOf(kind: string): string {
  if (kind === "mail") return "look at `mail` and at the recipients, then `crm-sync alerts test` again";
  return "check its address, its token and the network";
}

export const addCheck: Register = (program, carryOut) => {
  program
    .command("check")
    .description("look at configuration, sources and services, without writing anything")
    .addHelpText("after", example("crm-sync check"))
    .action(() => carryOut(checkCommand));
};

async function checkCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { check } = await import("../../setup/check.ts");
    const findings = await check(application, signal);
    if (options.json) {
      output.json(
        findings.map((finding): Json => ({
          ...finding,
          warning: finding.warning ?? false,
          place: finding.place ?? null,
          cure: finding.cure ?? null,
        })),
      );
    } else {
      for (const finding of findings) {
        const verdict = !finding.good ? "BAD " : finding.warning === true ? "warn" : "good";
        output.line(safeLines(`${verdict}  ${finding.what}: ${finding.detail}`));
        if (finding.place !== undefined && !finding.detail.includes(finding.place))
          output.line(safeLines(`      in ${finding.place}`));
        if (finding.cure !== undefined) output.line(safeLines(`      → ${finding.cure}`));
      }
    }
    const bad = findings.filter((finding) => !finding.good);
    if (bad.some((finding) => finding.kind === "ledger")) return exitCodes.ledgerRefused;
    if (bad.some((finding) => finding.kind === "setting")) return exitCodes.configuration;
    if (bad.some((finding) => finding.kind !== "records")) return exitCodes.sourceDown;
    return bad.length > 0 ? exitCodes.recordsRejected : exitCodes.ok;
  });
}
