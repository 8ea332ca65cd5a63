import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { world, type World } from "../support/cli.ts";
import { startCrmSync } from "../support/process.ts";
import { fileSource, filesOf, writeFiles } from "../support/world/crm-files.ts";
import { company } from "../support/world/crm.ts";
import { calledMore, sumOf } from "./calls.ts";
import type { CountedRun } from "./processes/counted-run.ts";

/**
 * Which files of `src` one new order of an existing customer passes. `road.json` keeps them. A file more is refused, and
 * so is a file fewer until the list is written again: `COUNTS=write npx vitest run test/counts`.
 *
 * - `order`: from its row in the source to the commit of its audit entry.
 * - `operation`: the same, but from where the run asks its queue for customers.
 *
 * A file is in a list if a run with two new orders calls one of its functions more often than a run with one. A run with
 * none is not what they are compared with: then what only the first order of a run needs would count too, such as
 * statements that are prepared on first use. Each order is the only row of a source of its own, and belongs to a customer
 * of its own. So what handles many rows at once, a whole read or a whole customer counts, and what each read does without
 * any row does not. After its audit entry the first of the two orders also passes what ends its customer; no file is in a
 * list for that alone.
 */

const program = join(import.meta.dirname, "processes/counted-run.ts");
const file = join(import.meta.dirname, "road.json");
const minute = 60_000;

/** Folders that the road goes through everywhere, and folders that are not on it. */
const besides = [
  "app",
  "base",
  "cli",
  "config",
  "contract",
  "crm",
  "http",
  "ledger/database",
  "ledger/private",
  "sandbox",
];

/** Branches of the company. Each has a source that gives its orders, and one customer. */
const branches = ["north", "south"];

/** A company that the platform agrees with. No branch has an order yet. */
async function agreed(): Promise<World> {
  const w = await world({ records: company(branches.length, 1) });
  const sources = {
    crm: fileSource("data", ["customers", "orders"]),
    hr: fileSource("data", ["staff"]),
    ...Object.fromEntries(branches.map((branch) => [branch, fileSource(branch, ["orders"])])),
  };
  const settings = {
    ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
    zone: "UTC",
    log: { level: "warn" },
    sources,
    jobs: { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } },
    concurrency: { customers: 1 },
    orderService: { callsAtOnce: 1 },
    memberCenter: { callsAtOnce: 1 },
  };
  writeFileSync(w.path("crm-sync.yaml"), stringify(settings));
  giveOrders(w, 0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** From now on the first `count` branches have one order each. */
function giveOrders(w: World, count: number): void {
  for (const [index, branch] of branches.entries()) {
    const order = { id: `${branch}-O`, customer: `C${index + 1}`, assets: [`${branch}-A`] };
    const orders = index < count ? [order] : [];
    writeFiles(w.path(branch), filesOf("ndjson", { customers: [], orders, staff: [] }));
  }
}

/** What a run with so many new orders calls, in a process of its own. */
async function callsOf(orders: number): Promise<CountedRun> {
  const w = await agreed();
  giveOrders(w, orders);
  const start = String(w.clock.at + minute);
  const { result, calls } = await w.writes(
    () => startCrmSync({ ...w.place, program: [program, start] }, "run", "everything").ended,
  );
  expect(result.exitCode, result.stderr).toBe(0);
  expect(calls).toEqual({ E5: orders });
  const run: CountedRun = JSON.parse(result.stdout);
  expect(run.working).toHaveLength(orders);
  return run;
}

function onRoad(passed: ReadonlyMap<string, unknown>): string[] {
  const isBeside = (path: string): boolean => besides.some((folder) => path.startsWith(`src/${folder}/`));
  return [...passed.keys()].filter((path) => !isBeside(path)).toSorted();
}

type Road = Record<"order" | "operation", string[]>;

it("one order passes the files of its road and no others", async () => {
  const [one, two] = await Promise.all([callsOf(1), callsOf(2)]);
  const passed = {
    order: calledMore(sumOf([two.reading, ...two.working]), sumOf([one.reading, ...one.working])),
    operation: calledMore(sumOf(two.working), sumOf(one.working)),
  };
  const now: Road = { order: onRoad(passed.order), operation: onRoad(passed.operation) };
  if (process.env["COUNTS"] === "write") return writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
  const kept: Road = JSON.parse(readFileSync(file, "utf8"));
  for (const of of ["order", "operation"] as const) {
    const more = now[of].filter((path) => !kept[of].includes(path));
    const functions = more.map((path) => `${path}: ${passed[of].get(path)?.join(", ")}`);
    expect.soft(functions, `one ${of} passes more files than road.json names`).toEqual([]);
    const fewer = kept[of].filter((path) => !now[of].includes(path));
    expect.soft(fewer, `one ${of} no longer passes files that road.json names: write it again`).toEqual([]);
  }
});
