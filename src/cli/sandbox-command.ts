import type { ExitCode } from "../base/errors.ts";
import { systemClock } from "../base/clock.ts";
import { systemRandomness } from "../base/ids.ts";
import { faultRuleSchema } from "../sandbox/faults.ts";
import { startSandbox } from "../sandbox/sandbox.ts";
import { ok } from "./command.ts";
import type { Invocation } from "./command.ts";
import { usage } from "./keys.ts";
import { reportFailure } from "./output.ts";

export interface SandboxCommandOptions {
  port: number;
  store: string;
  latency: number;
  fault: string[];
  seed: number | undefined;
}

/** `sandbox`: both remote services on this machine, until SIGTERM or Ctrl-C. */
export async function sandboxCommand(invocation: Invocation, options: SandboxCommandOptions): Promise<ExitCode> {
  const { output, signal } = invocation;
  try {
    const faults = options.fault.map((text) => {
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        throw usage(
          `--fault ${text} is no JSON`,
          `write it as '{"operation":"E5","fault":"appliedNoReply","nth":[3]}'`,
        );
      }
      const rule = faultRuleSchema.safeParse(value);
      if (rule.success) return rule.data;
      throw usage(`--fault ${text} is no fault: ${rule.error.issues[0]?.message ?? ""}`, "the README lists the faults");
    });
    const sandbox = await startSandbox({
      port: options.port,
      store: options.store,
      latencyMs: options.latency,
      seedFaults: faults,
      seed: options.seed,
      clock: systemClock,
      random: systemRandomness,
    });
    if (invocation.options.json) output.json({ url: sandbox.url, port: sandbox.port });
    else {
      output.line(`the sandbox answers at ${sandbox.url} until Ctrl-C`);
      output.line(`use it with: crm-sync --sandbox=${sandbox.url} run customers-and-orders`);
      output.line(
        `look at it:  ${sandbox.url}/_sandbox/state, /_sandbox/counts, /_sandbox/duplicates, /_sandbox/faults`,
      );
    }
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await sandbox.close();
    return ok;
  } catch (error) {
    return reportFailure(output, error, invocation.options.json);
  }
}
