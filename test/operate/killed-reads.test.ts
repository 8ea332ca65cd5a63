/** @module-tag long */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { putNewLedger } from "../support/new-ledger.ts";
import { startServer } from "../support/http-server.ts";
import { customerRow } from "../support/world/crm.ts";
import { folder, rowsOf } from "../support/world/start.ts";

const count = 4_000;
const pageSize = 50;
const pages = count / pageSize + 1;
const kills = 10;

/** Reads the list once, in a process of its own; resolves with its exit code, or null where it was killed. */
async function readList(path: string, origin: string, begun: (kill: () => void) => void): Promise<number | null> {
  const program = join(import.meta.dirname, "processes/read-list.ts");
  const child = spawn(process.execPath, [program, path, origin], { stdio: ["ignore", "ignore", "inherit"] });
  begun(() => child.kill("SIGKILL"));
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : null;
}

it("a long list over HTTP, killed ten times while it is read, has every row once, and nothing is read twice but what was under way", async () => {
  const path = join(folder(), "ledger.db");
  putNewLedger(path);
  const ids = Array.from({ length: count }, (_, index) => `C${String(index + 1).padStart(6, "0")}`);
  const asked: string[] = [];
  let kill = (): void => {};
  let killAt = Number.POSITIVE_INFINITY;
  const origin = await startServer(({ query }, response) => {
    const after = query["after"] ?? "";
    asked.push(after);
    if (asked.length >= killAt) return kill();
    const from = ids.findIndex((id) => id > after);
    const page = from < 0 ? [] : ids.slice(from, from + pageSize);
    const rows = page.map((id) => ({ ...customerRow({ id }), changed: "2026-10-01T08:00:00Z" }));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(rows));
  });
  const readWith = async (stopAfter: number): Promise<number | null> => {
    killAt = asked.length + stopAfter;
    return await readList(path, origin, (stop) => (kill = stop));
  };

  for (let number = 1; number <= kills; number += 1) expect(await readWith(4 + (number % 4)), "killed").toBeNull();
  const beforeLast = asked.length;
  expect(await readWith(Number.POSITIVE_INFINITY)).toBe(0);
  expect(asked.length - beforeLast, "the last reading goes on where the others were cut").toBeLessThan(pages - kills);
  // A page that was under way is asked for again, and the one before it where its commit was under way too.
  expect(asked.length).toBeLessThanOrEqual(pages + 2 * kills);
  expect(new Set(asked).size).toBe(pages);
  expect(rowsOf(path, "select count(*) as rows, sum(version) as versions, max(missed) as missed from record")).toEqual([
    { rows: count, versions: count, missed: 0 },
  ]);
  expect(rowsOf(path, "select complete, whole, rows from source_read order by number desc limit 1")).toEqual([
    { complete: 1, whole: 1, rows: count },
  ]);

  // Nothing has changed: what is only met is remembered over the kills too, and what is gone is found.
  ids.splice(7, 1);
  for (let number = 1; number <= 3; number += 1) expect(await readWith(12), "killed again").toBeNull();
  expect(await readWith(Number.POSITIVE_INFINITY)).toBe(0);
  expect(rowsOf(path, "select id from record where state = 'absent'")).toEqual([{ id: "C000008" }]);
  expect(rowsOf(path, "select count(*) as parts from read_checkpoint_seen")).toEqual([{ parts: 0 }]);
});
