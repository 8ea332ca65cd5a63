import { join } from "node:path";
import { expect, vi } from "vitest";
import type { EndpointId } from "../../src/contract/endpoints.ts";
import type { Cell } from "./cells.ts";
import type { Parsed } from "./cli.ts";
import type { KillPoint } from "./kill-points-names.ts";
import { startCrmSync } from "./process.ts";
import type { Ended } from "./program.ts";

/** What is killed in settling was cut off at another point by the process before. */
export const earlierKill: Partial<Record<KillPoint, KillPoint>> = {
  "in settling, after a look-up that shows it": "committed there, no reply",
  "in settling, after a look-up that does not": "all written, nothing committed there",
  "in settling, after a resend": "all written, nothing committed there",
};

/** The operation of this kind that is open. */
export async function openOf(cell: Cell, kind: string): Promise<Parsed> {
  const open: Parsed[] = await cell.ask("settle", "list");
  return open.find((one) => one.kind === kind);
}

/** The call whose operation is killed. */
export interface Killed {
  kind: string;
  endpoint: EndpointId;
  /** Which call of the endpoint it is, from the start of the process on; the first one unless it is said. */
  nth?: number;
}

const everything = ["--json", "run", "everything"];

/**
 * Runs a command line in a process of its own that is killed at a point of a call; in as many of them as it takes,
 * where a run may have to do something else first.
 */
export async function killAt(
  cell: Cell,
  point: KillPoint,
  { kind, endpoint, nth = 1 }: Killed,
  { words = everything, processes = 1 }: { words?: readonly string[]; processes?: number } = {},
): Promise<void> {
  const { sandbox, ownPlace } = cell;
  // Only what an earlier process left is open.
  const open = earlierKill[point] !== undefined ? await openOf(cell, kind) : undefined;
  const killing = { KILL_POINT: point, KILL_KIND: kind, KILL_OPERATION: open?.id ?? "" };
  const preload = join(import.meta.dirname, "kill-points.ts");
  // A call that is to be written as a whole and to come to nothing: the platform is silent at it.
  const isSilent = point === "all written, nothing committed there";
  const { faulted } = sandbox.counts();
  if (isSilent) sandbox.faults.add({ operation: endpoint, fault: "silence", nth });
  let ended: Ended | undefined;
  for (let left = processes; left > 0 && ended?.signal !== "SIGKILL"; left -= 1) {
    ended = await startCrmSync({ ...ownPlace, environment: { ...ownPlace.environment, ...killing }, preload }, ...words)
      .ended;
    cell.output.push(ended.stdout, ended.stderr);
  }
  expect(ended?.signal, `${point} was not reached: ${ended?.stdout}${ended?.stderr.slice(-2000)}`).toBe("SIGKILL");
  // What a killed program wrote may arrive after it is gone, and meets the fault first.
  if (isSilent) await vi.waitFor(() => expect(sandbox.counts().faulted).toBeGreaterThan(faulted), 60_000);
  sandbox.faults.clear();
  cell.followsTheMachine();
}

/**
 * Carries a command line out in a process of its own that is killed right before the step of that number, or comes to
 * its end and says how many there were (test/support/kill-at-step.ts).
 */
export async function killAtStep(cell: Cell, step: number | undefined, ...words: string[]): Promise<Ended> {
  const killing = step === undefined ? {} : { KILL_STEP: String(step) };
  const { ownPlace } = cell;
  const environment = { ...ownPlace.environment, ...killing };
  const preload = join(import.meta.dirname, "kill-at-step.ts");
  const ended = await startCrmSync({ ...ownPlace, environment, preload }, ...words).ended;
  cell.output.push(ended.stdout, ended.stderr);
  cell.followsTheMachine();
  return ended;
}
