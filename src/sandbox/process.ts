import { parseArgs } from "node:util";
import { systemClock } from "../base/clock.ts";
import { systemRandomness } from "../base/ids.ts";
import { faultRuleSchema } from "./faults.ts";
import { startSandbox } from "./sandbox.ts";
import { sandboxSettingsSchema } from "./sandbox-settings.ts";

/**
 * Runs the sandbox until SIGTERM or SIGINT. `--port N` (0), `--host H`, `--store FILE` (:memory:), `--latency MS` (0),
 * `--seed N`, `--settings JSON`, `--fault JSON` (as often as wanted).
 */
export async function runSandbox(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      port: { type: "string", default: "0" },
      host: { type: "string", default: "127.0.0.1" },
      store: { type: "string", default: ":memory:" },
      latency: { type: "string", default: "0" },
      seed: { type: "string" },
      settings: { type: "string", default: "{}" },
      fault: { type: "string", multiple: true, default: [] },
    },
  });
  const sandbox = await startSandbox({
    port: wholeNumber("port", values.port),
    host: values.host,
    store: values.store,
    latencyMs: wholeNumber("latency", values.latency),
    seed: values.seed === undefined ? undefined : wholeNumber("seed", values.seed),
    settings: sandboxSettingsSchema.parse(JSON.parse(values.settings)),
    seedFaults: values.fault.map((rule) => faultRuleSchema.parse(JSON.parse(rule))),
    clock: systemClock,
    random: systemRandomness,
  });
  const stop = () => void sandbox.close().then(() => process.exit(0));
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  process.stdout.write(`${JSON.stringify({ url: sandbox.url, port: sandbox.port })}\n`);
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new TypeError(`--${name} ${text}: a whole number is expected`);
  return Number(text);
}
