import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { auditEntries, quarantined, ran, runsOf } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";

/** What people are told of the time before: by statements, and of a customer. */
async function shown(w: World): Promise<Parsed[]> {
  const said: Parsed[] = [];
  for (const kind of ["orders", "reconciliation", "exceptions"])
    said.push((await w.run("report", kind, "--period", "2026-11", "--format", "csv")).stdout);
  const { read: _, ...explained } = await w.ask("explain", "customer", "C1");
  return [...said, explained];
}

it("history that is older than it is kept goes without a trace in what people are told", { tags: "long" }, async () => {
  const w = await world();
  const file = w.path("data/customers.ndjson");
  const run = async (exitCode: number, ...bad: string[]): Promise<void> => {
    w.write();
    writeFileSync(file, readFileSync(file, "utf8") + bad.map((id) => `{"id":"${id}"}\n`).join(""));
    expect((await ran(w)).exitCode).toBe(exitCode);
  };
  await run(0);
  for (const customer of w.customers) customer.branch = "Another branch";
  await run(3, "bad-1", "bad-2");
  // Two rows of one moment come in no order of their own.
  const bad = (await quarantined(w)).find((row) => JSON.stringify(row).includes("bad-2"));
  await run(3, "bad-2");
  await w.run("run", "verify");
  w.later(24 * 40);
  await run(3, "bad-2");
  const before = await shown(w);
  for (const kind of ["runDays", "rawRecordDays", "observationDays"])
    w.environment[`CRM_SYNC__retention__${kind}`] = "30";
  await run(3, "bad-2");
  expect(await shown(w)).toEqual(before);
  const thinned = async () => (await auditEntries(w)).filter(({ kind }) => kind === "retention");
  const entries = await thinned();
  const counts = { rawForms: 2, quarantineForms: 1, runs: 3 };
  expect(entries.map(({ body }) => JSON.parse(body).thinned)).toMatchObject([counts]);
  // The last run of each job stays as it was.
  const runs = (await runsOf(w)).filter(({ job }) => job !== "verify").toReversed();
  expect(runs.map(({ balance }) => balance.adds)).toEqual([true, true, true, true, true]);
  expect(runs.map(({ header }) => Object.keys(header).length > 0)).toEqual([false, false, false, true, true]);
  // The raw form of what still waits stays.
  expect(await quarantined(w)).toMatchObject([{ id: bad?.id }]);
  expect((await w.ask("quarantine", "show", bad?.id, "--raw")).raw).toContain("bad-2");
  await run(3, "bad-2");
  expect(await thinned()).toEqual(entries);
});
