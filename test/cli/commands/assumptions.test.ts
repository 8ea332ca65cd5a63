import { expect, it } from "vitest";
import { assumptions } from "../../../src/contract/assumptions.ts";
import { world, type Parsed } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("lists every row with its question, and no data", async () => {
  const w = await world({ records: company(2, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const rows: Parsed[] = (await w.ask("assumptions")).assumptions;
  expect(rows.map(({ id }) => id)).toEqual(assumptions.map(({ id }) => id));
  expect(new Set(rows.map(({ standing }) => standing))).toEqual(new Set(["assumed"]));

  const { stdout } = await w.run("assumptions");
  for (const { question } of rows) expect(stdout).toContain(question);
  expect(stdout).not.toMatch(/\bC1\b|\bO1\b|\d{10}/u);

  for (const words of [["A44", "--reason", "said so"], ["A17", "--reason", "said so"], ["A17"]])
    expect((await w.run("assumptions", "accept", ...words)).exitCode, words.join(" ")).toBe(64);
});

it("a contradiction is an alert until it is accepted, unless nothing rests on the row", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  const alerts = async (): Promise<string[]> => (await w.ask("alerts")).alerts.map(({ key }: Parsed) => key);
  w.sandbox.contradict(["A17"]);
  await w.run("run", "everything");
  expect(await alerts()).toContain("assumption:A17");
  w.sandbox.contradict([]);
  expect((await w.run("assumptions", "accept", "A17", "--reason", "they count from 1 again")).exitCode).toBe(0);
  await w.run("run", "everything");
  expect(await alerts()).toEqual([]);
  w.sandbox.contradict(["A2"]);
  w.customers = [{ id: "C1", name: "Zqcanary Works anew" }];
  w.write();
  w.environment["CRM_SYNC__settle__maxWaitMs"] = "1";
  await w.run("run", "everything");
  expect(await alerts()).not.toContain("assumption:A2");
  const { assumptions: rows } = await w.ask("assumptions");
  expect(rows.find(({ id }: Parsed) => id === "A2").standing).toBe("contradicted");
});

it("what was planned before a contradiction is not sent after it", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  // One order of a customer goes at a time: the others are planned with the first.
  w.orders.push({ id: "O2", customer: "C1", assets: ["O2-A1"] }, { id: "O3", customer: "C1", assets: ["O3-A1"] });
  w.write();
  w.sandbox.contradict(["A12"]);
  expect((await w.does("run", "everything")).calls).toEqual({ E2: 1, E5: 1, E9: 1, M1: 1 });
});
