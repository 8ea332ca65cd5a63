import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock, toInstant } from "../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { AuditLog } from "../../src/ledger/audit/audit-log.ts";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import { text } from "./arguments.ts";
import { auditEntry } from "./journal-work.ts";

/** T7: makes a ledger with `--entries` audit entries and verifies the whole chain, in entries a second. */

const { values } = parseArgs({
  options: { directory: { type: "string" }, entries: { type: "string" } },
  strict: false,
});
const path = join(text(values["directory"], "directory"), "ledger.db");
const entries = Number(text(values["entries"], "entries"));

const ids = createIds(() => systemClock.now(), systemRandomness);
const database = await openDatabase(path, { migrate: true });
const log = new AuditLog(database);
const appendMany = database.transaction((from: number, to: number) => {
  for (let index = from; index < to; index += 1) {
    log.append(auditEntry(ids.next("op"), index, toInstant(systemClock.now())));
  }
});
const appending = performance.now();
for (let from = 0; from < entries; from += 1_000) appendMany(from, Math.min(from + 1_000, entries));
const appendedIn = (performance.now() - appending) / 1_000;
database.close();

const ledger = await Ledger.open({ path, clock: systemClock, ids, random: systemRandomness });
const verifying = performance.now();
const verdict = ledger.audit.verify();
const verifiedIn = (performance.now() - verifying) / 1_000;
ledger.close();
if (!verdict.good || verdict.entries !== entries) throw new Error("the chain does not verify");
process.stdout.write(
  `${JSON.stringify({ verifiedPerSecond: entries / verifiedIn, appendedPerSecond: entries / appendedIn })}\n`,
);
