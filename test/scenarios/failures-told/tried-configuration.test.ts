import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { company } from "../../support/world/crm.ts";

/** A plan by another configuration, whose mapping of customers has one field more or less. */
async function planBy(w: World, change: (mapping: Parsed) => void): ReturnType<typeof crmSync> {
  const other = w.path("other.yaml");
  const settings: Parsed = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
  change(settings.sources.crm.streams.customers.mapping);
  writeFileSync(other, stringify(settings));
  return await crmSync({ ...w.place, config: other, sandbox: w.sandbox.url, clock: w.clock }, "plan");
}

it("a plan by another configuration keeps nothing, and neither opens nor ends an issue", async () => {
  const w = await world({ records: company(30, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const told = async (): Promise<unknown> => {
    const { open, reads, lastRuns, attention }: Parsed = await w.ask("status");
    return { open, reads, lastRuns, attention };
  };
  const before = await told();
  const tried = await planBy(w, (mapping) => (mapping.branchName = { value: "Elsewhere" }));
  expect([tried.exitCode, tried.stdout.match(/update customer C\d+: branch/gu)?.length], tried.stderr).toEqual([2, 30]);
  expect(tried.stderr).toContain("The copy is not kept");
  expect((await planBy(w, (mapping) => (mapping.branchName = "no such column"))).exitCode).toBe(3);
  expect(await told()).toEqual(before);
  expect(readdirSync(w.path(".")).filter((name) => name.includes("unfinished"))).toEqual([]);
  expect((await w.does("run", "everything")).calls).toEqual({});
});
