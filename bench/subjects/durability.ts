import { handInResources } from "../../src/app/resources.ts";
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { Writer } from "../../src/ledger/database/writer.ts";
import { median } from "../measure.ts";
import { text } from "./arguments.ts";
import { journalWork } from "./journal-work.ts";

handInResources();

/**
 * What full durability costs: intents and outcomes a second through the ledger's own writer and tables, with nothing
 * else going on. Grouped commits at full durability, one commit each at full durability, and grouped commits at NORMAL,
 * which loses what was committed last when the power fails.
 */

const { values } = parseArgs({
  options: { directory: { type: "string" }, lanes: { type: "string" } },
  strict: false,
});
const directory = text(values["directory"], "directory");
const lanes = Number(text(values["lanes"], "lanes"));

async function operationsPerSecond(name: string, groupSize: number, synchronous: "full" | "normal"): Promise<number> {
  const count = 6_000;
  const database = openDatabase(join(directory, `${name}.db`));
  database.pragma(`synchronous = ${synchronous}`);
  const writer = new Writer(database, { groupSize });
  const work = journalWork(database);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const id = await writer.write(() => work.intend(index));
      await writer.write(() => work.conclude(id, index));
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: lanes }, lane));
  const seconds = (performance.now() - started) / 1_000;
  writer.close();
  database.close();
  return count / seconds;
}

/** How long this disk takes to make 4 KB durable, in milliseconds; next to nothing where it only says so. */
function flushMilliseconds(): number {
  const file = openSync(join(directory, "flush"), "w");
  const block = Buffer.alloc(4_096, 1);
  const times = Array.from({ length: 200 }, () => {
    const started = performance.now();
    writeSync(file, block);
    fdatasyncSync(file);
    return performance.now() - started;
  });
  closeSync(file);
  return median(times);
}

await operationsPerSecond("warm-up", 64, "full");
const result = {
  flushMs: flushMilliseconds(),
  grouped: await operationsPerSecond("grouped", 64, "full"),
  each: await operationsPerSecond("each", 1, "full"),
  normal: await operationsPerSecond("normal", 64, "normal"),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
