// Reads the customers of a source into the ledger named by the first argument, as one run. The second argument holds
// the settings of the source as JSON. Says the peak of its memory in bytes at its end.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { systemClock } from "../../../src/base/clock.ts";
import { systemRandomness } from "../../../src/base/ids.ts";
import { createStaging } from "../../../src/ledger/records/staging.ts";
import { sourceSettingsSchema } from "../../../src/source/source-settings.ts";
import { createSource } from "../../../src/source/source.ts";
import { readCustomers } from "../../engine/read-customers.ts";

const [path = "", settings = ""] = process.argv.slice(2);
const source = createSource("crm", sourceSettingsSchema.parse(JSON.parse(settings)), {
  clock: systemClock,
  random: systemRandomness,
  secrets: () => "",
  staging: createStaging(),
  baseDirectory: dirname(path),
});
await readCustomers(path, source);
process.stdout.write(String(peakOfMemory()));

/** The system counts what this process was before it began as its own: the process that started it. */
function peakOfMemory(): number {
  try {
    const [, kibibytes = "0"] = /VmHWM:\s+(\d+)/u.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return Number(kibibytes) * 1_024;
  } catch {
    return process.resourceUsage().maxRSS * 1_024;
  }
}
