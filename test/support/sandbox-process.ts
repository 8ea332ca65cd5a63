import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import { bundled } from "./bundle.ts";

const listening = z.object({ url: z.url(), port: z.int() });

/** Both remote services in a process of their own, as a platform is. */
export interface SandboxProcess {
  url: string;
  /** Ends it in good order and waits for that. */
  close(): Promise<void>;
}

/**
 * Starts the sandbox on a free port. `latencyMs` is the time of each call, half of it before its effect; the faults are
 * on from the start.
 */
export async function startSandboxProcess(options: {
  store: string;
  latencyMs?: number;
  faults?: readonly FaultRule[];
  /** Makes the probabilities of faults repeat. */
  seed?: number;
}): Promise<SandboxProcess> {
  const { store, latencyMs = 0, faults = [], seed } = options;
  const words = ["--store", store, "--latency", String(latencyMs)];
  for (const fault of faults) words.push("--fault", JSON.stringify(fault));
  if (seed !== undefined) words.push("--seed", String(seed));
  const child = spawn(process.execPath, [bundled(), "sandbox", "--json", "--port", "0", ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = exitOf(child);
  const lines = createInterface({ input: child.stdout });
  const first = await new Promise<string>((resolve, reject) => {
    lines.once("line", resolve);
    ended.then(() => reject(new Error("the sandbox ended before it listened")), reject);
  });
  return {
    url: listening.parse(JSON.parse(first)).url,
    async close() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => resolve());
  });
}
