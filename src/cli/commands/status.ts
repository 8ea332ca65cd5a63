import { toInstant } from "../../base/clock.ts";
import { type ExitCode, exitCodes } from "../../base/errors.ts";
import { ok, withReader, withLedger, withApplication, type Invocation } from "../command.ts";
import { example, type Register } from "../command-line.ts";
import { safeLines } from "../output.ts";
import type { Finding } from "../../setup/finding.ts";

export const addStatus: Register = (program, carryOut) => {
  program
    .command("status")
    .description("show the state of the synchronisation, and what needs a person")
    .option("--all", "everything that waits, and the figures of the ledger", false)
    .addHelpText("after", example("crm-sync status --all"))
    .action(({ all }) => carryOut((invocation) => statusCommand(invocation, all)));
};

async function statusCommand(invocation: Invocation, all: boolean): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const inquiry = await application.inquiry();
    const at = application.clock.now();
    const jobs = application.jobs();
    const status = {
      ...(await inquiry.status(jobs.map(({ id }) => id))),
      taken: await inquiry.taken(application.config.limits.removals, at),
    };
    const { notFired } = await import("../../operate/dashboard.ts");
    const { waitingOf } = await import("../../report/today.ts");
    const { statusText } = await import("../../report/status-text.ts");
    const scheduled = jobs.filter(({ schedule }) => schedule !== undefined);
    const facts = {
      status,
      assumptions: await inquiry.assumptions(),
      jobs: scheduled.map(({ id }) => ({ job: id })),
      notFired: notFired(application, status.slots),
    };
    const now = toInstant(at);
    const { items } = waitingOf(facts, now, Infinity);
    const attention = items.map(({ what, why, since, owner, cure }) => ({ what, why, since, owner, next: cure }));
    return { json: { ...status, attention }, text: (view) => statusText(facts, now, { all, view }) };
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
  return await withReader(invocation, async (application) => {
    const { alertsNow } = await import("../../operate/notify/configured.ts");
    const { alertsText } = await import("../../report/alerts.ts");
    const facts = await alertsNow(application, await application.inquiry());
    return { json: facts, text: (view) => alertsText(facts, toInstant(application.clock.now()), view) };
  });
}

/** Exit code 1 if a channel did not deliver, or not to everybody. */
async function alertsTestCommand(invocation: Invocation, named: string | undefined): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    application.jobs();
    const { testAlerts } = await import("../../operate/notify/configured.ts");
    const tested = await testAlerts(application, named);
    const lines = tested.flatMap(({ channel, kind, problem, partly }) => {
      const name = channel === kind ? channel : `${channel} (${kind})`;
      const failed = problem ?? partly;
      return failed === null
        ? [safeLines(`good  ${name}: delivered`)]
        : [safeLines(`BAD   ${name}: ${failed}`), `      → ${cureOf(kind)}`];
    });
    const isBad = tested.some(({ problem, partly }) => problem !== null || partly !== null);
    return { json: { channels: tested }, text: lines.join("\n"), exit: isBad ? exitCodes.other : ok };
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
  return await withApplication(invocation, async (application) => {
    const { check } = await import("../../setup/check.ts");
    const findings = await check(application, invocation.signal);
    const json = findings.map((finding) => ({
      ...finding,
      warning: finding.warning ?? false,
      place: finding.place ?? null,
      cure: finding.cure ?? null,
    }));
    const lines = findings.flatMap(({ good, warning, what, detail, place, cure }) => [
      `${!good ? "BAD " : warning === true ? "warn" : "good"}  ${what}: ${detail}`,
      ...(place !== undefined && !detail.includes(place) ? [`      in ${place}`] : []),
      ...(cure === undefined ? [] : [`      → ${cure}`]),
    ]);
    return { json, text: lines.map(safeLines).join("\n"), exit: exitOf(findings) };
  });
}

function exitOf(findings: readonly Finding[]): ExitCode {
  const bad = findings.filter((finding) => !finding.good);
  if (bad.some((finding) => finding.kind === "ledger")) return exitCodes.ledgerRefused;
  if (bad.some((finding) => finding.kind === "setting")) return exitCodes.configuration;
  if (bad.some((finding) => finding.kind !== "records")) return exitCodes.sourceDown;
  return bad.length > 0 ? exitCodes.recordsRejected : exitCodes.ok;
}
