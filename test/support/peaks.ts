import { setImmediate as turn } from "node:timers/promises";
import type { EndpointId } from "../../src/sandbox/endpoints.ts";
import type { SandboxOptions } from "../../src/sandbox/sandbox.ts";

/** Turns of the event loop in which a call waits for others beside it. */
const patience = 3_000;

/**
 * A gate of a sandbox at which each call of `operations` waits until `lanes` calls of its operation are there, or nobody
 * comes any more; and how many of each were there at once at most.
 */
export function peaksAt(
  lanes: number,
  ...operations: readonly EndpointId[]
): { gate: SandboxOptions["gate"]; peaks: Partial<Record<string, number>> } {
  const peaks: Partial<Record<string, number>> = {};
  const inFlight: Partial<Record<string, number>> = {};
  const gate = async (operation: EndpointId, when: "before" | "after"): Promise<void> => {
    if (!operations.includes(operation)) return;
    const now = (inFlight[operation] ?? 0) + (when === "before" ? 1 : -1);
    inFlight[operation] = now;
    peaks[operation] = Math.max(peaks[operation] ?? 0, now);
    if (when === "after") return;
    for (let turns = 0; turns < patience && (peaks[operation] ?? 0) < lanes; turns += 1) await turn();
  };
  return { gate, peaks };
}

/** Settings with which so much is done at once, and nothing waits for its turn. */
export const atOnce = (lanes: number): string => `concurrency: { customers: ${lanes} }
memberCenter: { callsAtOnce: ${lanes}, callsPerSecond: 1000 }
orderService: { callsAtOnce: ${lanes}, callsPerSecond: 1000 }
`;
