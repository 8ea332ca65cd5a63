// Reads the customers of a source into the ledger named by the first argument, as one run. The second argument holds
// the settings of the source as JSON. Says the peak of its memory in bytes at its end.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { pino } from "pino";
import { systemClock } from "../../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../../src/base/ids.ts";
import { Ledger } from "../../../src/ledger/ledger.ts";
import { createStaging } from "../../../src/ledger/records/staging.ts";
import { limitsSettingsSchema } from "../../../src/run/run-settings.ts";
import { SourceReading } from "../../../src/run/source-reading.ts";
import { sourceSettingsSchema } from "../../../src/source/source-settings.ts";
import { createSource } from "../../../src/source/source.ts";
import { answersWith } from "../../support/world/records.ts";

const [path = "", settings = ""] = process.argv.slice(2);
const ledger = await Ledger.open({
  path,
  clock: systemClock,
  ids: createIds(() => systemClock.now(), systemRandomness),
  random: systemRandomness,
});
ledger.runs.takeLock();
const source = createSource("crm", sourceSettingsSchema.parse(JSON.parse(settings)), {
  clock: systemClock,
  random: systemRandomness,
  secrets: () => process.env["READ_PASSWORD"] ?? "",
  staging: createStaging(),
  baseDirectory: dirname(path),
});
const run = await ledger.runs.start({ job: "customers", kind: "sync", trigger: "hand", scope: null, header: {} });
const reading = new SourceReading(
  {
    ledger,
    sources: [source],
    streams: [{ source: "crm", stream: "customers", job: "customers" }],
    settings: answersWith({ channelOrderIdTemplate: "CO-{id}" }),
    logger: pino({ level: "silent" }),
    clock: systemClock,
    progress: () => {},
  },
  { streams: ["customers"], read: true, limits: limitsSettingsSchema.parse({ absenceReads: 1, absenceTime: "0s" }) },
  run,
  { countsAbsence: true },
);
await reading.read();
await source.close();
ledger.close();
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
