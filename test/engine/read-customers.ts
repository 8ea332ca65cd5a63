import { pino } from "pino";
import { handInResources } from "../../src/app/resources.ts";
import { systemClock } from "../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import { limitsSettingsSchema } from "../../src/engine/run/run-settings.ts";
import { SourceReading } from "../../src/ingest/source-reading.ts";
import type { Source } from "../../src/source/source.ts";
import { standardPolicies } from "../support/world/rules.ts";
import { answersWith } from "../support/world/records.ts";
import { trustedAt } from "../support/trusted.ts";

/** Reads the customers of a source into the ledger at the path, as one run. */
export async function readCustomers(path: string, source: Source): Promise<void> {
  handInResources();
  const ledger = await Ledger.open({
    path,
    clock: systemClock,
    ids: createIds(() => systemClock.now(), systemRandomness),
    random: systemRandomness,
  });
  ledger.runs.takeLock();
  const run = await ledger.runs.start({ job: "customers", kind: "sync", trigger: "hand", scope: null, header: {} });
  const reading = new SourceReading(
    {
      ledger,
      sources: [source],
      streams: [{ source: "crm", stream: "customers", job: "customers" }],
      settings: answersWith({ channelOrderIdTemplate: "CO-{id}" }),
      policies: standardPolicies,
      logger: pino({ level: "silent" }),
      clock: systemClock,
      progress: () => {},
    },
    { streams: ["customers"], read: true, limits: limitsSettingsSchema.parse({ absenceReads: 1, absenceTime: "0s" }) },
    run,
    { now: async () => trustedAt(systemClock.now()) },
  );
  await reading.read();
  await source.close();
  ledger.close();
}
