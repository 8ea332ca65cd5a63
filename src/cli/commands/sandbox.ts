import { type ExitCode, usage } from "../../base/errors.ts";
import { systemClock } from "../../base/clock.ts";
import { systemRandomness } from "../../base/ids.ts";
import { ok, type Invocation } from "../command.ts";
import { example, repeated, wholeNumber, type Register } from "../command-line.ts";
import { reportFailure } from "../output.ts";

export const addSandbox: Register = (program, carryOut) => {
  program
    .command("sandbox")
    .description("both remote services on this machine, with faults, until Ctrl-C")
    .option("--port <number>", "port (0: a free one)", wholeNumber, 8899)
    .option("--store <file>", "where its state lies, or :memory:", ":memory:")
    .option("--latency <ms>", "time of every call", wholeNumber, 0)
    .option("--seed <number>", "makes faults by probability repeat", wholeNumber)
    .option("--fault <json>", "a fault that is on from the start (may be repeated)", repeated, [] as string[])
    .addHelpText(
      "after",
      example(`crm-sync sandbox --store sandbox.db --fault '{"operation":"E5","fault":"appliedNoReply","nth":[3]}'`),
    )
    .action((options) => carryOut((invocation) => sandboxCommand(invocation, { ...options, seed: options.seed })));
};

interface SandboxCommandOptions {
  port: number;
  store: string;
  latency: number;
  fault: string[];
  seed: number | undefined;
}

async function sandboxCommand(invocation: Invocation, options: SandboxCommandOptions): Promise<ExitCode> {
  const { output, signal } = invocation;
  try {
    const { faultRuleSchema } = await import("../../sandbox/faults.ts");
    const { startSandbox } = await import("../../sandbox/sandbox.ts");
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
      throw usage(
        `--fault ${text} is no fault: ${rule.error.issues[0]?.message ?? ""}`,
        "docs/reference/sandbox.md lists the faults",
      );
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
