import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { world, type World } from "../support/cli.ts";
import { startCrmSync } from "../support/process.ts";
import { company } from "../support/world/crm.ts";
import { counted, type LedgerCounts } from "./counting.ts";
import type { CountedRun } from "./processes/counted-run.ts";

/**
 * What one customer costs with one lane, and how many promises one more is made with, in counts that are the same on every machine. `counts.json` keeps them; what
 * needs more than 2 % more is refused, and what needs less writes the new number: `COUNTS=write npx vitest run
 * test/counts`.
 */

const file = join(import.meta.dirname, "counts.json");
const tolerance = 0.02;

type Counts = Partial<LedgerCounts & { calls: number; promises: number }>;

const kept: Record<string, Counts> = JSON.parse(readFileSync(file, "utf8"));
const now: Record<string, Counts> = {};

/** A customer with an order of two assets, and two people who hold one each. */
const one = (): Promise<World> => oneLane(company(1, 2));

async function oneLane(records: ReturnType<typeof company>): Promise<World> {
  const w = await world({ records });
  w.extra = `concurrency: { customers: 1 }
orderService: { callsAtOnce: 1 }
memberCenter: { callsAtOnce: 1 }
`;
  w.write();
  return w;
}

async function costs(w: World, ...words: string[]): Promise<Counts> {
  const before = total(w);
  const counts = await counted(async () => {
    const ended = await w.run(...words);
    expect(ended.exitCode, ended.stdout + ended.stderr).toBe(0);
  });
  return { ...counts, calls: total(w) - before };
}

const total = (w: World): number => Object.values(w.sandbox.counts().calls).reduce((sum, calls) => sum + calls, 0);

const run = ["run", "everything"];
const program = join(import.meta.dirname, "processes/counted-run.ts");

/**
 * What the first run takes for so many customers with one order each or none, in a process of its own. It looks at the
 * first 64 of them before it begins.
 */
async function firstRun(customers: number, withOrders: boolean): Promise<CountedRun> {
  const ids = Array.from({ length: customers }, (_, index) => `C${index + 1}`);
  const orders = withOrders ? ids.map((id) => ({ id: `O${id}`, customer: id, assets: [`A${id}`] })) : [];
  const w = await oneLane({ customers: ids.map((id) => ({ id })), orders, staff: [] });
  const { result } = await w.writes(
    () => startCrmSync({ ...w.place, program: [program, String(w.clock.at)] }, ...run).ended,
  );
  expect(result.exitCode, result.stderr).toBe(0);
  return JSON.parse(result.stdout);
}

const situations: Record<string, (w: World) => Promise<Counts>> = {
  "first run": async (w) => await costs(w, ...run),
  unchanged: async (w) => {
    await w.run(...run);
    return await costs(w, ...run);
  },
  "one edit": async (w) => {
    await w.run(...run);
    w.customers = w.customers.map((row) => ({ ...row, branch: "South" }));
    w.write();
    return await costs(w, ...run);
  },
  verify: async (w) => {
    await w.run(...run);
    return await costs(w, "run", "verify");
  },
  rebuild: async (w) => {
    await w.run(...run);
    for (const end of ["", "-wal", "-shm", ".heads"]) rmSync(w.path(`ledger.db${end}`), { force: true });
    w.write();
    return await costs(w, "rebuild");
  },
};

function expectAsKept(name: string, counts: Counts): void {
  now[name] = counts;
  if (process.env["COUNTS"] === "write") return;
  for (const [what, count] of Object.entries(counts)) {
    const was = kept[name]?.[what as keyof Counts] ?? 0;
    const hint = `${name}: ${what} ${was} → ${count}`;
    expect(count, `${hint} is more than 2 % more`).toBeLessThanOrEqual(was * (1 + tolerance));
    expect(count, `${hint} is less: write the new number`).toBeGreaterThanOrEqual(was * (1 - tolerance));
  }
}

it.each(Object.entries(situations))("one customer costs no more than it did: %s", async (name, costsOf) => {
  expectAsKept(name, await costsOf(await one()));
});

it.each([
  ["one customer more", false],
  ["one customer more with an order", true],
])("%s takes no more than it did", async (name, withOrders) => {
  const [few, more] = await Promise.all([firstRun(80, withOrders), firstRun(90, withOrders)]);
  expectAsKept(name, { promises: (more.promises - few.promises) / 10 });
});

afterAll(() => {
  if (process.env["COUNTS"] === "write") writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
});
