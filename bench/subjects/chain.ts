import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock, toInstant } from "../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { type AuditRow, AuditLog } from "../../src/ledger/audit/audit-log.ts";
import { verifyRecord } from "../../src/ledger/audit/verify-log.ts";
import { entriesOf } from "../../src/ledger/audit/tables.ts";
import { keptOf } from "../../src/ledger/audit/kept-tree.ts";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { text } from "./arguments.ts";
import { auditEntry } from "./journal-work.ts";

/**
 * T7: makes a ledger with `--entries` audit entries and, `--rounds` times in turns, verifies the whole record with its
 * Merkle tree and reads the same rows in a bare loop that takes the sha-256 of each. In seconds of the processor, so
 * that what others take of the machine meanwhile does not count. By hand:
 *
 *     node bench/subjects/chain.ts --entries 200000 --rounds 3
 */

const { values } = parseArgs({
  options: { directory: { type: "string" }, entries: { type: "string" }, rounds: { type: "string" } },
  strict: false,
});
/** Entries of one commit: few, as where a run has little to do at once. Each of them has the tree grow. */
const group = 8;

const folder = mkdtempSync(
  join(values["directory"] === undefined ? tmpdir() : text(values["directory"], "directory"), "chain-"),
);
const path = join(folder, "ledger.db");
const entries = Number(text(values["entries"], "entries"));
const rounds = Number(text(values["rounds"], "rounds"));

const ids = createIds(() => systemClock.now(), systemRandomness);
const database = openDatabase(path);
const log = new AuditLog(database, systemRandomness);
const appendMany = database.transaction((from: number, to: number) => {
  for (let index = from; index < to; index += 1) {
    log.append(auditEntry(ids.next("op"), index, toInstant(systemClock.now())));
  }
  log.grow();
});
const append = seconds(() => {
  for (let from = 0; from < entries; from += group) appendMany(from, Math.min(from + group, entries));
});

const columns = "sequence, format, at, kind, subject, body, previous, hash, salt";
const all = database.prepare<[], AuditRow>(`select ${columns} from audit order by sequence`);

function seconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function verify(): void {
  const verdict = verifyRecord({ rows: entriesOf(database), heads: [], ...keptOf(database) });
  if (!verdict.good || verdict.entries !== entries) throw new Error("the chain does not verify");
}

function bare(): void {
  let count = 0;
  for (const row of all.iterate()) {
    const { sequence, format, at, kind, subject, body, previous } = row;
    const digest = hash("sha256", `${sequence} ${format} ${at} ${kind} ${subject} ${body} ${previous}`);
    count += digest.length === 64 ? 1 : 0;
  }
  if (count !== entries) throw new Error("rows are missing");
}

const taken = Array.from({ length: rounds }, () => ({ bare: seconds(bare), verify: seconds(verify) }));
database.close();
rmSync(folder, { recursive: true });
process.stdout.write(`${JSON.stringify({ entries, append, rounds: taken })}\n`);
