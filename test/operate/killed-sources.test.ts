/** @module-tag long */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleProgram, frugal } from "../support/bundle.ts";
import { startServer } from "../support/http-server.ts";
import { putNewLedger } from "../support/new-ledger.ts";
import { folder, rowsOf } from "../support/world/start.ts";

/**
 * `READ_ROWS=1000000` reads as many as a large CRM has, by a bundle as users have it; the peak of memory is then held
 * to what is promised.
 */
const rows = Number(process.env["READ_ROWS"] ?? 2_000);
const isLarge = rows >= 1_000_000;
const mostMemory = 200 * 1_048_576;
const pageSize = isLarge ? 1_000 : 100;
const kills = isLarge ? 10 : 5;

const mapping = {
  id: "id",
  name: "name",
  customerType: { value: "company" },
  branchCode: { value: "B1" },
  branchName: { value: "Head office" },
};

const idOf = (number: number): string => `C${String(number).padStart(8, "0")}`;

const dist = join(import.meta.dirname, "../../dist");
let program = join(import.meta.dirname, "processes/read-source.ts");

beforeAll(async () => {
  if (!isLarge) return;
  mkdirSync(dist, { recursive: true });
  program = await bundleProgram(program, mkdtempSync(join(dist, ".reading-")));
});
afterAll(() => {
  if (isLarge) rmSync(dirname(program), { recursive: true });
});

/** Ends with the peak of memory in bytes, or with nothing where it was killed. */
async function readSource(path: string, settings: object, killWhen?: () => boolean): Promise<number | undefined> {
  const words = [...frugal.words, program, path, JSON.stringify(settings)];
  const child = spawn(process.execPath, words, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...frugal.env },
  });
  let said = "";
  child.stdout.on("data", (chunk) => (said += String(chunk)));
  const watch = setInterval(() => {
    if (killWhen?.() === true) child.kill("SIGKILL");
  }, 5);
  const [code] = await once(child, "exit");
  clearInterval(watch);
  return code === 0 ? Number(said) : undefined;
}

/** Kills the reading ten times after it has come further, lets it end, and looks at what the ledger has. */
async function killedTenTimes(settings: object): Promise<void> {
  const path = join(folder(), "ledger.db");
  putNewLedger(path);
  const taken = (): number =>
    rowsOf<{ rows: number }>(path, "select coalesce(max(rows), 0) as rows from read_checkpoint")[0]?.rows ?? 0;
  for (let number = 1; number <= kills; number += 1) {
    const goal = Math.floor((rows * number) / (kills + 2));
    expect(await readSource(path, settings, () => taken() >= goal), "killed").toBeUndefined();
    expect(taken()).toBeGreaterThanOrEqual(goal);
  }
  const peak = await readSource(path, settings);
  if (isLarge) expect(peak, `peak of memory: ${peak}`).toBeLessThanOrEqual(mostMemory);
  expect(rowsOf(path, "select count(*) as rows, sum(version) as versions, max(missed) as missed from record")).toEqual([
    { rows, versions: rows, missed: 0 },
  ]);
  const last = "select complete, whole, rows, problem from source_read order by number desc limit 1";
  const [read] = rowsOf<{ complete: number; whole: number; rows: number; problem: string | null }>(path, last);
  expect(read).toMatchObject({ complete: 1, whole: 1, problem: null });
  // A database is asked from the last key on, so that keys which it takes for the same are not passed over.
  expect(read?.rows).toBeGreaterThanOrEqual(rows);
  expect(read?.rows).toBeLessThanOrEqual(rows + kills);
  expect(rowsOf(path, "select count(*) as left from read_checkpoint")).toEqual([{ left: 0 }]);
  if (isLarge) process.stderr.write(`${rows} rows: peak of memory ${Math.round((peak ?? 0) / 1_048_576)} MB\n`);
}

describe(
  "a long reading that is killed again and again has every row once, and is whole",
  { timeout: isLarge ? 3_600_000 : 300_000 },
  () => {
    it("over HTTP, paged by keys", async () => {
      const origin = await startServer(({ query }, response) => {
        const from = Number(query["after"]?.slice(1) ?? 0) + 1;
        const items = Array.from({ length: Math.max(0, Math.min(pageSize, rows - from + 1)) }, (_, index) => ({
          id: idOf(from + index),
          name: `Zqcanary Works ${from + index}`,
        }));
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ items }));
      });
      const paging = { kind: "keyset", parameter: "after", key: "id", size: pageSize, lastPage: "short" };
      const customers = { url: "customers", records: "items", key: "id", paging, mapping };
      await killedTenTimes({ kind: "http", baseUrl: origin, streams: { customers } });
    });
  },
);
