// Reads the list of customers behind the address of the second argument into the ledger named by the first, as one run.
import { pino } from "pino";
import { fetch } from "undici";
import { z } from "zod";
import { systemClock } from "../../../src/base/clock.ts";
import { Problem } from "../../../src/base/errors.ts";
import { createIds, systemRandomness } from "../../../src/base/ids.ts";
import { Ledger } from "../../../src/ledger/ledger.ts";
import { limitsSettingsSchema } from "../../../src/run/run-settings.ts";
import { SourceReading } from "../../../src/run/source-reading.ts";
import { pagedSource } from "../../support/paged-source.ts";
import { answersWith } from "../../support/world/records.ts";

const [path = "", origin = ""] = process.argv.slice(2);
const rows = z.array(z.record(z.string(), z.json()));
const ledger = await Ledger.open({
  path,
  clock: systemClock,
  ids: createIds(() => systemClock.now(), systemRandomness),
  random: systemRandomness,
});
ledger.runs.takeLock();
const source = pagedSource({
  ask: async ({ after }) => {
    const answer = await fetch(`${origin}/customers?after=${after}`).catch(() => undefined);
    if (answer?.ok !== true) return new Problem({ code: "source.down", message: "no answer", cure: "wait" });
    return { rows: rows.parse(await answer.json()), date: Date.parse(answer.headers.get("date") ?? "") };
  },
  by: "key",
  branch: () => "branch",
  monotonic: () => systemClock.monotonic(),
  overlapMs: 1_000,
  wholeEveryMs: undefined,
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
ledger.close();
