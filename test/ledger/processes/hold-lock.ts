// Opens the ledger named by the first argument, takes the run lock and says so; then waits to be killed.
import { handInResources } from "../../../src/app/resources.ts";
import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../../src/base/ids.ts";
import { Ledger } from "../../../src/ledger/ledger.ts";

handInResources();

const [path = ""] = process.argv.slice(2);
const ledger = await Ledger.open({
  path,
  clock: systemClock,
  ids: createIds(() => systemClock.now(), systemRandomness),
  random: systemRandomness,
});
try {
  ledger.runs.takeLock();
  writeSync(1, "locked\n");
} catch (error) {
  writeSync(1, `refused ${error instanceof Error && "exitCode" in error ? String(error.exitCode) : "?"}\n`);
  process.exit(1);
}
await delay(60_000);
