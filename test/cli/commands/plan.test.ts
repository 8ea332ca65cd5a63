import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { company } from "../../support/world/crm.ts";
import { document, documents, world } from "../../support/cli.ts";
import type { Parsed } from "../../support/cli.ts";

it("says what a run would send, what it rests on and what is not known yet, and sends nothing but reads", async () => {
  const w = await world();
  const file = w.path("plan.ndjson");
  const planned = await w.does("--json", "plan", "--order", "O2", "--out", file);
  expect([planned.exitCode, planned.calls]).toEqual([2, {}]);
  const [customer, total] = documents(planned);
  expect(customer).toMatchObject({ type: "customer", customer: "crm/C2" });
  const saved: Parsed = JSON.parse(readFileSync(file, "utf8").split("\n")[1] ?? "");
  expect(saved.operations.map(({ endpoint, restsOn }: Parsed) => [endpoint, ...restsOn])).toEqual([
    ["E2", "A8", "A10"],
    ["E5", "A17", "A12", "A39", "A22", "A21"],
    ["M1", "A29", "A31"],
    ["M9", "A33"],
    ["M9", "A33"],
  ]);
  expect(total).toMatchObject({ customers: 1, operations: 5, writingCalls: 0 });
  const forPeople = (await w.run("plan")).stdout;
  for (const unknown of ["E3", "E9"]) expect(forPeople).toContain(`(known after ${unknown})`);
  expect((await w.ask("explain", "order", "O2")).operations.total).toBe(0);
});

describe("a saved plan", () => {
  it("is refused when it was edited, cut or is no plan, and nothing is sent", { tags: "long" }, async () => {
    const w = await world();
    const [good, bad] = [w.path("plan.ndjson"), w.path("spoiled.ndjson")];
    await w.run("plan", "--out", good);
    const refusals: ((text: string) => string)[] = [
      (text) => text.replace('"customerName"', '"customername"'),
      (text) => text.split("\n").toSpliced(1, 1).join("\n"),
      (text) => text.split("\n").slice(0, 2).join("\n"),
      (text) => text.slice(0, text.length / 2),
      (text) => text.replace('"limitConcurrent":3', '"limitConcurrent":300'),
      (text) => text.replace(/"reason":"[^"]*"/u, '"reason":"nothing to see here"'),
      (text) => text.replace(/"lines":\[[^\]]+\]/u, '"lines":[]'),
      (text) => text.replace(/"weight":\{/u, '"weight":{"other":1,'),
      (text) => text.replace('"heldBy":null', '"heldBy":{"explanation":"held","scope":"run"}'),
      (text) => text.replace('"private":"withheld"', '"private":"shown"'),
      (text) => `${text} `,
      (text) => text.replace('"format":2', '"format":3'),
      () => "Dear grandmother,\n",
      () => "",
    ];
    for (const [index, change] of refusals.entries()) {
      const [before, after] = [readFileSync(good, "utf8"), change(readFileSync(good, "utf8"))];
      expect.soft(after, `change ${index}`).not.toBe(before);
      writeFileSync(bad, after);
      const { exitCode, calls, stdout } = await w.does("--json", "apply", bad);
      expect.soft([exitCode, calls], `change ${index}`).toEqual([64, {}]);
      expect.soft(JSON.parse(stdout).error, `change ${index}`).toMatchObject({ code: "plan.refused" });
    }
    expect((await w.run("apply", w.path("nowhere.ndjson"))).exitCode).toBe(64);
    const other = await world();
    copyFileSync(good, other.path("plan.ndjson"));
    const foreign = await other.does("--json", "apply", other.path("plan.ndjson"));
    expect([foreign.calls, document(foreign).error.code]).toEqual([{}, "plan.refused"]);
  });

  it("replaces an earlier plan, and no other file", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    for (const name of ["crm-sync.yaml", "data/orders.ndjson", "ledger.db", "data"]) {
      const held = (): string | undefined => (name === "data" ? undefined : readFileSync(w.path(name), "latin1"));
      const before = held();
      for (const words of [["plan"], ["undo", "run_1"]])
        expect((await w.run(...words, "--out", w.path(name))).exitCode, `${words.join(" ")} ${name}`).toBe(64);
      expect(held()).toBe(before);
    }
    const report = ["report", "orders", "--period", "2026-10", "--format", "csv", "--out", w.path("ledger.db")];
    expect((await w.run(...report)).exitCode).toBe(64);
    writeFileSync(w.path("plan.ndjson"), "");
    for (const _ of [1, 2]) expect((await w.run("plan", "--out", w.path("plan.ndjson"))).exitCode).toBe(2);
    expect((await w.run("apply", w.path("plan.ndjson"))).exitCode).toBe(0);
  });

  it("sends nothing when another run did its work in between", { tags: "long" }, async () => {
    const w = await world();
    await w.run("run", "customers-and-orders");
    await w.run("plan", "--out", w.path("plan.ndjson"));
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const { exitCode, calls } = await w.does("apply", w.path("plan.ndjson"));
    expect([exitCode, calls]).toEqual([3, {}]);
  });
});
