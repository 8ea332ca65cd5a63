import type { Ledger } from "../ledger/ledger.ts";
import type { Platform } from "../platform/platform.ts";
import { notifyChanges } from "./notify.ts";
import type { Notice, NotifyDependencies } from "./notify.ts";
import type { RunSummary } from "./summary.ts";

/** What needs a person now, from the state of things and the run that just ended. */
export async function noticesOf(
  ledger: Ledger,
  summary: RunSummary | undefined,
  platform: Platform,
): Promise<Notice[]> {
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
  const quarantined = await ledger.openQuarantineCount();
  if (quarantined > 0) {
    notices.push({
      key: "quarantine",
      kind: "quarantine",
      summary: `${quarantined} record(s) wait in quarantine`,
      cure: "crm-sync quarantine list",
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
  const state = platform.state();
  for (const [service, { breaker }] of Object.entries(state)) {
    if (breaker.state === "open")
      notices.push({
        key: `breaker:${service}`,
        kind: "breaker",
        summary: `calls to ${service} are stopped`,
        cure: "it is probed by itself; check the service",
      });
  }
  return notices;
}

/** Tells people what started or stopped needing one. */
export async function tellPeople(
  deps: NotifyDependencies & { ledger: Ledger },
  summary: RunSummary | undefined,
  platform: Platform,
): Promise<void> {
  await notifyChanges(await noticesOf(deps.ledger, summary, platform), deps);
}
