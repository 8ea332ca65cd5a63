import { expect, it } from "vitest";
import { assumptions } from "../../src/contract/assumptions/assumptions.ts";
import { document, world } from "../support/cli.ts";
import type { Parsed } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";

it(
  "every row is listed with what it met, and the letter has every question and no name of anybody",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const listed = await w.run("assumptions");
    expect(listed.exitCode).toBe(0);
    for (const { id, question } of assumptions) {
      expect(listed.stdout).toMatch(new RegExp(`^${id} +(?:assumption|choice) `, "mu"));
      expect(listed.stdout).toContain(question);
    }
    const rows: Parsed[] = document(await w.run("assumptions", "--json")).assumptions;
    const standing = Object.fromEntries(rows.map((row) => [row.id, row.standing]));
    // Two customers were made, with an order and a person each, and each person got an asset.
    expect(standing).toMatchObject({
      A1: "confirmed",
      A8: "confirmed",
      A9: "confirmed",
      A12: "confirmed",
      A17: "confirmed",
      A25: "confirmed",
    });
    expect(standing).toMatchObject({ A15: "unverified", A42: "unverified" });
    const ofA8 = { count: 2, evidence: "E3 showed an enterprise that E2 had made" };
    expect(rows.find((row) => row.id === "A8").confirmed).toMatchObject(ofA8);
    expect(rows.find((row) => row.id === "A17").confirmed).toMatchObject({ count: 2, evidence: "E5 was accepted" });

    const { stdout: letter } = await w.run("assumptions", "--letter");
    const open = rows.filter((row) => row.kind === "assumption");
    for (const { letter: question } of open) expect(letter).toContain(question);
    expect(letter).not.toMatch(/\bC1\b|\bO1\b|\d{10}/u);
  },
);

it("nothing is accepted that is no row, or was not contradicted, or has no reason", async () => {
  const w = await world({ records: company(1, 1) });
  await w.run("run", "everything");
  for (const [words, said] of [
    [["A44", "--reason", "because they said so"], "A44 is no row"],
    [["A17", "--reason", "because they said so"], "A17 is not contradicted"],
    [["A17"], "reason"],
  ] as const) {
    const refused = await w.run("assumptions", "accept", ...words);
    expect(refused.exitCode).toBe(64);
    expect(refused.stderr).toContain(said);
  }
});

it("a contradiction is told as an alert, and ends when it is accepted", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  w.sandbox.contradict(["A17"]);
  const said = await w.run("run", "everything");
  expect(said.stderr).toContain('"kind":"assumption"');
  expect(said.stderr).toContain("the assumption A17 was contradicted at");
  w.sandbox.contradict([]);
  await w.run("assumptions", "accept", "A17", "--reason", "they count from 1 again");
  expect((await w.run("run", "everything")).stderr).toContain('"event":"alert.ended","key":"assumption:A17"');
  w.sandbox.contradict(["A2"]);
  w.customers = [{ id: "C1", name: "Zqcanary Works anew" }];
  w.write();
  w.environment["CRM_SYNC__settle__maxWaitMs"] = "1";
  const told = await w.run("run", "everything");
  expect(told.stderr, "A2 stops nothing by itself").not.toContain('"kind":"assumption"');
  expect((await w.run("assumptions")).stdout).toContain("which the contract does not list for it");
});

it("what was planned before a contradiction is not sent after it", async () => {
  // One order at a time: the second is planned with the first, and its turn comes after the answer.
  const w = await world({ records: company(1, 1) });
  w.orders.push({ id: "O2", customer: "C1", assets: ["O2-A1"] }, { id: "O3", customer: "C1", assets: ["O3-A1"] });
  w.write();
  w.sandbox.contradict(["A12"]);
  const { calls } = await w.does("run", "everything");
  expect(calls).toEqual({ E2: 1, E5: 1, E9: 1, M1: 1 });
});
