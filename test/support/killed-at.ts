import { join } from "node:path";
import { expect, vi } from "vitest";
import type { EndpointId } from "../../src/contract/endpoints.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import type { World } from "./cli.ts";
import { auditIsWhole } from "./full-check.ts";
import type { KillPoint } from "./kill-points-names.ts";
import { LedgerView } from "./ledger-view.ts";
import { startCrmSync } from "./process.ts";

/** What is killed in settling was cut off at another point by the process before. */
export const earlierKill: Partial<Record<KillPoint, KillPoint>> = {
  "in settling, after a look-up that shows it": "committed there, no reply",
  "in settling, after a look-up that does not": "all written, nothing committed there",
  "in settling, after a resend": "all written, nothing committed there",
};

/**
 * Where a call is to be written as a whole and to come to nothing, the platform is silent at it. Answers what takes the
 * faults away: what a killed program wrote may arrive after it is gone, and meets its fault first.
 */
export function silentAt(
  point: KillPoint,
  sandbox: Sandbox,
  { operation, nth }: { operation: EndpointId; nth: number },
): (isKilled: boolean) => Promise<void> {
  const isSilent = point === "all written, nothing committed there";
  const { faulted } = sandbox.counts();
  if (isSilent) sandbox.faults.add({ operation, fault: "silence", nth });
  const hasMet = (): void => {
    if (sandbox.counts().faulted <= faulted) throw new Error(`no call met the fault at ${point}`);
  };
  return async (isKilled) => {
    if (isSilent && isKilled) await vi.waitFor(hasMet, 60_000);
    sandbox.faults.clear();
  };
}

/** The audit chain is whole, and nothing stands on the platform twice. */
export function expectWhole(w: World): void {
  const view = new LedgerView(w.path("ledger.db"));
  try {
    expect(auditIsWhole(view, w.path("ledger.db"))).toEqual([]);
  } finally {
    view.close();
  }
  expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
}

const preload = join(import.meta.dirname, "kill-points.ts");

/**
 * Runs everything in processes of their own until one of them is killed there, in a call of that kind; `nth` answers
 * which E5 of the next run that is.
 */
export async function killedInRun(w: World, point: KillPoint, kind: string, nth: () => number): Promise<void> {
  for (let run = 0; run < 5; run += 1) {
    const lift = silentAt(point, w.sandbox, { operation: "E5", nth: nth() });
    const environment = { ...w.place.environment, KILL_POINT: point, KILL_KIND: kind };
    const { signal } = await startCrmSync({ ...w.place, environment, preload }, "run", "everything").ended;
    const isKilled = signal === "SIGKILL";
    await lift(isKilled);
    if (isKilled) return;
  }
  expect.fail(`${kind} was never killed ${point}`);
}
