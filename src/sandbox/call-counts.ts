import type { EndpointId } from "./endpoints.ts";
import { routes } from "./endpoints.ts";
import type { DecidingFaults, Fault } from "./faults.ts";

export interface SandboxCounts {
  /** Calls by operation (and `token`) since this process started or was reset, whatever became of them. */
  calls: Record<string, number>;
  /** Of these, the ones of operations that write. */
  writingCalls: number;
  /** Calls that were applied, by operation; kept with the state. Late calls count when they are applied. */
  effects: Record<string, number>;
  /** Calls that met a fault. */
  faulted: number;
}

/** Counts the calls, and gives each the fault that it meets. */
export interface CallCounts {
  faultFor: (target: EndpointId | "token", values?: readonly string[]) => Fault | undefined;
  counts: () => SandboxCounts;
  clear: () => void;
}

export function createCallCounts(faults: DecidingFaults, effects: () => SandboxCounts["effects"]): CallCounts {
  const calls = new Map<EndpointId | "token", number>();
  let faulted = 0;
  return {
    faultFor(target, values = []) {
      calls.set(target, (calls.get(target) ?? 0) + 1);
      const fault = faults.decide(target, values);
      if (fault !== undefined) faulted += 1;
      return fault;
    },
    counts() {
      let writingCalls = 0;
      for (const [id, count] of calls) if (id !== "token" && routes[id].writes) writingCalls += count;
      return { calls: Object.fromEntries(calls), writingCalls, effects: effects(), faulted };
    },
    clear() {
      calls.clear();
      faulted = 0;
    },
  };
}
