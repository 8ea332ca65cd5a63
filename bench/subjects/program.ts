import { handInResources } from "../../src/app/resources.ts";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { systemClock } from "../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { createLogger } from "../../src/base/logger.ts";
import { configSchema } from "../../src/config/config.ts";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import { createStaging } from "../../src/ledger/records/staging.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import type { RunDependencies } from "../../src/engine/run/request.ts";
import { runSync } from "../../src/engine/run/run.ts";
import { runVerify } from "../../src/engine/run/verify-run.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { createSource } from "../../src/source/source.ts";
import { customers } from "../configuration.ts";
import { subjectArguments, text } from "./arguments.ts";
import { readUnchanged } from "./unchanged.ts";
import { stopwatch } from "./worked.ts";

handInResources();

/**
 * The engine of the program without its command line, for what no command can be asked for. `--job sync` is a run of
 * the customers (a second one finds nothing to do), `--job verify` reads everything back, `--job unchanged` compares
 * the reading of rows that are as they were with a bare loop. `--group-size 1` commits each piece of work alone. The
 * ledger stays in the folder.
 */

const worked = stopwatch();
const { baseUrl, csv, directory, lanes } = subjectArguments();
const { values } = parseArgs({
  options: {
    job: { type: "string" },
    "group-size": { type: "string", default: "64" },
    rounds: { type: "string", default: "3" },
  },
  strict: false,
});
const job = text(values["job"], "job");
const rounds = Number(text(values["rounds"], "rounds"));

const profile = parse(readFileSync(new URL("../../config/profiles/sandbox.yaml", import.meta.url), "utf8"));
const pace = { baseUrl, callsAtOnce: lanes, callsPerSecond: null };
const ledgerPath = join(directory, "ledger.db");
const config = configSchema.parse({
  ledger: { path: ledgerPath },
  sources: {},
  ...profile,
  orderService: { ...profile.orderService, ...pace },
  memberCenter: { ...profile.memberCenter, ...pace },
});
const sourceSettings = sourceSettingsSchema.parse({
  kind: "file",
  streams: {
    customers: { ...customers, files: basename(csv) },
  },
});

const clock = systemClock;
const random = systemRandomness;
const logger = createLogger({ level: "warn" });
const ledger = await Ledger.open({
  path: ledgerPath,
  clock,
  random,
  ids: createIds(() => clock.now(), random),
  sealSecret: "a sealing secret for the benchmark",
  groupSize: Number(text(values["group-size"], "group-size")),
});
const platform = createPlatform(
  { orderService: config.orderService, memberCenter: config.memberCenter, assumptions: config.assumptions },
  { clock, random, logger, environment: process.env },
);
const source = createSource("crm", sourceSettings, {
  clock,
  random,
  secrets: (reference) => reference,
  staging: createStaging(),
  baseDirectory: dirname(csv),
});
const dependencies: RunDependencies = {
  ledger,
  platform,
  sources: [source],
  streams: [],
  settings: config.assumptions,
  settle: config.settle,
  ordersUnseen: config.orders.unseen,
  policies: config.policies,
  concurrency: lanes,
  clock,
  random,
  logger,
  progress: () => {},
};

ledger.runs.takeLock();
try {
  const done =
    job === "unchanged" ? await readUnchanged(dependencies, csv, rounds) : await (job === "verify" ? verify : sync)();
  process.stdout.write(`${JSON.stringify({ ...done, worked: worked() })}\n`);
} finally {
  ledger.runs.releaseLock();
  ledger.close();
  await source.close();
  await platform.close();
}

async function sync(): Promise<{ records: number; exitCode: number }> {
  const summary = await runSync(dependencies, {
    job: "bench",
    trigger: "hand",
    streams: ["customers"],
    limits: config.limits,
    read: true,
    header: {},
  });
  return {
    records: summary.sources.reduce((sum, tally) => sum + tally.extracted, 0),
    exitCode: summary.exitCode,
  };
}

async function verify(): Promise<{ records: number; exitCode: number }> {
  const inquiry = openInquiry(ledger.path);
  const differences = (since: string) => inquiry.differences(since);
  const summary = await runVerify(dependencies, {
    job: "bench",
    trigger: "hand",
    streams: ["customers"],
    header: {},
    differences,
  });
  inquiry.close();
  return { records: summary.customers, exitCode: summary.exitCode };
}
