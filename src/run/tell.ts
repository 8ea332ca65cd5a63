import { z } from "zod";
import type { Json } from "../base/canonical-json.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { nextForOpen, openNamed } from "../report/open.ts";
import { fromBody, notifyChanges } from "./notify.ts";
import type { Notice, NotifyDependencies } from "./notify.ts";
import type { RunSummary } from "./summary.ts";

/** What needs a person now, from the state of things and the run that just ended. */
export async function noticesOf(ledger: Ledger, summary: RunSummary | undefined): Promise<Notice[]> {
  const notices: Notice[] = [];
  for (const read of await ledger.troubledReads()) {
    notices.push({
      key: `source-down:${read.source}/${read.stream}`,
      kind: "source-down",
      summary: `${read.source}/${read.stream}: ${read.problem ?? "was not read completely"}`,
      cure: "`crm-sync check` looks into the source; a complete read clears this",
    });
  }
  for (const hold of await ledger.openHolds()) {
    if (hold.state !== "open") continue;
    notices.push({
      key: `hold:${hold.id}`,
      kind: "hold",
      summary: `${hold.customer.namespace}/${hold.customer.id}: ${hold.explanation}`,
      cure: `crm-sync approve ${hold.id} --reason TEXT, or reject`,
    });
  }
  for (const row of await ledger.openOperations()) {
    notices.push({
      key: `unknown:${row.id}`,
      kind: "unknown",
      summary: `${row.operation.endpoint} on ${row.operation.subject} is ${row.state}`,
      cure:
        row.state === "parked"
          ? `crm-sync settle ${row.id} --applied|--not-applied --reason TEXT`
          : "the next run settles it; `crm-sync settle list` shows what is known",
    });
  }
  if (summary !== undefined && !summary.balance.adds) {
    notices.push({
      key: `does-not-balance:${summary.run}`,
      kind: "does-not-balance",
      summary: `run ${summary.run} does not balance`,
      cure: `crm-sync run show ${summary.run}`,
    });
  }
  for (const { service, since, reason } of await ledger.servicesLeft()) {
    notices.push({
      key: `breaker:${service}`,
      kind: "breaker",
      summary: `${service} is left alone since ${since}, because ${reason}`,
      cure: "it is tried again by itself; where it lasts, crm-sync check, then the network and the operator of the service",
    });
  }
  notices.push(...(await runNotices(ledger)));
  notices.push(...(await recordNotices(ledger, new Set(notices.map((notice) => notice.kind)))));
  return notices;
}

/** Records that are not done. Those that wait for an operation or a service are not told where that is told itself. */
async function recordNotices(ledger: Ledger, told: ReadonlySet<Notice["kind"]>): Promise<Notice[]> {
  const notices: Notice[] = [];
  for (const group of (await ledger.openRecords()).filter((item) => item.counts)) {
    if (group.cause === "operation.open" && told.has("unknown")) continue;
    if (group.cause.startsWith("service.") && (told.has("service-down") || told.has("breaker"))) continue;
    const kind = group.standing === "quarantined" ? "quarantine" : group.standing;
    notices.push({
      key: `${kind}:${group.stream}:${group.code === group.cause ? group.code : `${group.code}:${group.cause}`}`,
      kind,
      summary: openNamed(group),
      cure: nextForOpen(group),
      count: group.count,
    });
  }
  return notices;
}

/**
 * What the last run of each job came to. What a person did by hand told its outcome already. A run that was stopped on purpose says nothing new:
 * what was told of its job before stands.
 */
async function runNotices(ledger: Ledger): Promise<Notice[]> {
  const notices: Notice[] = [];
  const told = await ledger.notices();
  for (const [job, run] of await ledger.lastRunByJob()) {
    if (run.kind === "plan" || job === "apply" || job === "resync") continue;
    if (run.state === "stopped") {
      for (const key of [`run-failed:${job}`, `service-down:${job}`]) {
        const known = told.get(key);
        if (known !== undefined) notices.push(fromBody(key, known.body));
      }
      continue;
    }
    const cure = `crm-sync run show ${run.id}`;
    if (run.state === "failed" || run.state === "cut-off") {
      const how = run.state === "failed" ? "failed" : "was cut off";
      notices.push({ key: `run-failed:${job}`, kind: "run-failed", summary: `the last run of ${job} ${how}`, cure });
    }
    const different = differencesIn(run.summary);
    if (different > 0) {
      notices.push({
        key: `not-as-placed:${job}`,
        kind: "not-as-placed",
        summary: `the last run of ${job} found what the platform does not show as it was placed: ${different}`,
        cure: `${cure}; crm-sync report reconciliation has each of them. Nothing is sent again by itself`,
      });
    }
    const unreached = unreachedIn(run.summary);
    if (unreached > 0) {
      notices.push({
        key: `service-down:${job}`,
        kind: "service-down",
        summary: `customers could not be worked on in the last run of ${job}, because a service did not answer or did not let it in: ${unreached}`,
        cure: `crm-sync check; ${cure}`,
      });
    }
  }
  return notices;
}

/** What a verify found not shown, different or shown twice, from its summary. */
function differencesIn(summary: Json): number {
  const counts = verifyCounts.safeParse(summary);
  return counts.success ? Object.values(counts.data.findings.counts).reduce((sum, count) => sum + count, 0) : 0;
}

const verifyCounts = z.object({ findings: z.object({ counts: z.record(z.string(), z.int()) }) });

/** Customers that a run could not read or send to, from its summary: `customers.unreadable` of a sync, `failed` of a verify. */
function unreachedIn(summary: Json): number {
  if (typeof summary !== "object" || summary === null || Array.isArray(summary)) return 0;
  const { customers, failed } = summary;
  if (typeof failed === "number") return failed;
  if (typeof customers !== "object" || customers === null || Array.isArray(customers)) return 0;
  return typeof customers["unreadable"] === "number" ? customers["unreadable"] : 0;
}

/** Tells people what started or stopped needing one. */
export async function tellPeople(
  deps: NotifyDependencies & { ledger: Ledger },
  summary: RunSummary | undefined,
): Promise<void> {
  await notifyChanges(await noticesOf(deps.ledger, summary), deps);
}
