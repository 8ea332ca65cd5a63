import { decide } from "../engine/decide.ts";
import type { Decision, PersonsVerdict } from "../engine/decide.ts";
import { Problem, usage } from "../base/errors.ts";
import { typeOf } from "../engine/model/registry.ts";
import { SnapshotReader } from "../platform/snapshot.ts";
import { TrustedClock } from "../engine/run/trusted-clock.ts";
import type { Application } from "./application.ts";

/** What a person decides about one operation whose outcome is open. */
export interface GivenDecision {
  id: string;
  verdict: PersonsVerdict;
  reason: string;
}

/**
 * Opens what decisions need, and gives the function that carries one of them out. One that cannot be taken throws a
 * Problem and stops no other.
 */
export async function openDecisions(
  application: Application,
  by: string,
  signal: AbortSignal,
): Promise<(given: GivenDecision) => Promise<Decision>> {
  const dependencies = await application.runDependencies();
  await application.requirePlatform();
  const time = new TrustedClock(dependencies);
  const reader = new SnapshotReader(dependencies.platform, dependencies.settings);
  return async ({ id, verdict, reason }) => {
    if (signal.aborted) throw stoppedBefore(id);
    return await decide({ ...dependencies, time, reader }, id, { verdict, reason, by }, signal);
  };
}

function stoppedBefore(id: string): Problem {
  const cure = "run the command again; earlier decisions are kept";
  return new Problem({
    code: "settle.stopped",
    message: `the operation ${id} was not decided, because the command was stopped`,
    cure,
  });
}

/** Operations of a run that wait for a decision, or for their outcome; E9 settles by itself. */
export async function openOperationsOf(application: Application, run: string): Promise<string[]> {
  const inquiry = await application.inquiry();
  const wanted = run === "last" ? (await inquiry.runs({ limit: 1 }))[0]?.id : run;
  const found: string[] = [];
  for await (const row of inquiry.unsettled())
    if (row.runId === wanted && typeOf(row).onUnknown.by !== "lost") found.push(row.id);
  if (found.length === 0)
    throw usage(
      `the run ${run} has no operation with an unknown outcome`,
      "`crm-sync settle list` lists those of all runs",
    );
  return found;
}
