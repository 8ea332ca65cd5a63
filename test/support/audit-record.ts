import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { world, type World } from "./cli.ts";
import { company } from "./world/crm.ts";
import { folder } from "./world/start.ts";

export const auditPages = join(import.meta.dirname, "../../docs/reference/audit");

/** The verifier alone in a folder, as on the machine of somebody who has nothing of ours. */
export function verifierAlone(): (...words: string[]) => { code: number | null; said: string } {
  const place = folder();
  copyFileSync(join(auditPages, "verify.mjs"), join(place, "verify.mjs"));
  return (...words) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["verify.mjs", ...words], {
      cwd: place,
      encoding: "utf8",
      env: {},
    });
    return { code: status, said: stdout + stderr };
  };
}

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** What the second verifier says, which is written from the page alone. */
export function byPython(path: string): { code: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(
    "python3",
    [join(import.meta.dirname, "../ledger/audit/verify.py"), path],
    {
      encoding: "utf8",
    },
  );
  return { code: status, said: stdout + stderr };
}

/** Two customers, of whom each has an order and people; two runs, so that there are heads of two moments. */
export async function lived(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  for (const _ of [1, 2]) expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

export async function exportOf(w: World): Promise<string> {
  expect((await w.run("audit", "export", "--out", w.path("audit.ndjson"))).exitCode).toBe(0);
  return w.path("audit.ndjson");
}
