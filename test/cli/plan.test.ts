import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { canary, company } from "../support/world/crm.ts";
import { document, documents, promptRetries, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

/** A plan file with one thing done to it, under a new name. */
function spoiled(w: World, change: (text: string) => string): string {
  writeFileSync(w.path("spoiled.ndjson"), change(readFileSync(w.path("plan.ndjson"), "utf8")));
  return w.path("spoiled.ndjson");
}

/** The text of a plan file that was changed, with the hash that such a file would end with. */
function resealed(text: string): string {
  const lines = text.trimEnd().split("\n");
  const body = lines.slice(0, -1).join("\n");
  const end = z.looseObject({ sha256: z.string() }).parse(JSON.parse(lines.at(-1) ?? ""));
  return `${body}\n${JSON.stringify({ ...end, sha256: createHash("sha256").update(body).digest("hex") })}\n`;
}

describe("plan", () => {
  it("sends nothing but reads, shows what is not known yet, and exits 2 when changes are pending", async () => {
    const w = await world({ isOnMachineTime: true });
    const { result, calls } = await w.writes(() => w.run("plan"));
    expect(result.exitCode).toBe(2);
    expect(calls).toEqual({});
    expect(w.sandbox.state().enterprises).toBe(0);
    expect(result.stdout).toContain("E2 customer:crm/C1: the platform does not know the customer yet");
    expect(result.stdout).toContain("(known after E3)");
    expect(result.stdout).toContain("(known after E9)");
    expect(result.stdout).toContain("customerName: (private, version 1)");
    expect(result.stdout).toContain("10 operation(s) planned for 2 customer(s)");
    expect(result.stdout).toContain("Nothing was sent.");
    expect(w.rows("select id from operation")).toEqual([]);
  });

  it("says in JSON the same as for people, and keeps to its scope", async () => {
    const w = await world({ isOnMachineTime: true });
    const ended = await w.run("--json", "plan", "--order", "O2");
    expect(ended.exitCode).toBe(2);
    const all = documents(ended);
    expect(all.map((item) => item.type)).toEqual(["customer", "total"]);
    expect(all[0].customer).toBe("crm/C2");
    expect(all[0].operations.map((operation: { endpoint: string }) => operation.endpoint)).toEqual([
      "E2",
      "E5",
      "M1",
      "M9",
      "M9",
    ]);
    expect(all[1]).toMatchObject({ customers: 1, operations: 5, writingCalls: 0 });
  });

  it("exits 0 when there is nothing to do, also after a run did everything", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const { result, calls } = await w.writes(() => w.run("plan"));
    expect(result.exitCode).toBe(0);
    expect(result.stdout).toContain("0 operation(s) planned");
    expect(calls).toEqual({});
  });

  it("names what cannot be planned because a service is down, and exits 7", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true });
    Object.assign(w.environment, promptRetries);
    await w.sandbox.refuseConnections();
    const ended = await w.run("plan");
    expect(ended.exitCode).toBe(7);
    expect(ended.stdout).toContain("customer crm/C1\n  ! ");
    expect(ended.stdout).toContain("2 could not be planned");
  });
});

describe("a saved plan", () => {
  it("is carried out exactly as it was saved, once", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true });
    expect((await w.run("plan", "--customer", "C1", "--out", w.path("plan.ndjson"))).exitCode).toBe(2);
    expect(readFileSync(w.path("plan.ndjson"), "utf8")).not.toMatch(/zqcanary/iu);
    const { result, calls } = await w.writes(() => w.run("apply", w.path("plan.ndjson")));
    expect(result.exitCode, result.stdout).toBe(0);
    expect(calls).toEqual({ E2: 1, E5: 1, E9: 1, M1: 1, M9: 2 });
    expect(w.sandbox.state()).toMatchObject({ enterprises: 1, assets: 2, addedStaff: 2, assignments: 2 });
    expect(result.stdout).toContain("writing calls: 6");

    const again = await w.writes(() => w.run("apply", w.path("plan.ndjson")));
    expect(again.calls).toEqual({});
    expect(again.result.exitCode).not.toBe(0);
    expect(again.result.stderr).toMatch(/nothing of it is left: op [0-9a-f]{8} E2 .* was applied by run_\S+ already/u);
    expect(again.result.exitCode).toBe(64);
  });

  it("is refused when it was edited, cut, is no plan, or belongs to another ledger", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true });
    await w.run("plan", "--out", w.path("plan.ndjson"));
    const refusals: [string, (text: string) => string, RegExp][] = [
      ["edited", (text) => text.replace('"customerName"', '"customername"'), /was changed after it was made/u],
      ["a line taken out", (text) => text.split("\n").toSpliced(1, 1).join("\n"), /was changed/u],
      ["cut off", (text) => text.split("\n").slice(0, 2).join("\n"), /cut off/u],
      ["cut in the middle of a line", (text) => text.slice(0, text.length / 2), /cut off: its last line is missing/u],
      [
        "edited, with a hash of its own",
        (text) => resealed(text.replace('"limitConcurrent":3', '"limitConcurrent":300')),
        /what it says of E5 order:crm\/O1 was edited/u,
      ],
      [
        "an older format",
        (text) => text.replace('"format":2', '"format":1'),
        /an older version of the program \(format 1/u,
      ],
      ["a newer format", (text) => text.replace('"format":2', '"format":3'), /a newer version of the program/u],
      ["a letter", () => "Dear grandmother,\n", /no plan file/u],
      ["empty", () => "", /no plan file/u],
    ];
    for (const [what, change, why] of refusals) {
      const file = spoiled(w, change);
      const { result, calls } = await w.writes(() => w.run("apply", file));
      expect(result.exitCode, what).toBe(64);
      expect(result.stderr, what).toMatch(why);
      expect(result.stderr, what).toContain("Nothing was sent");
      expect(calls, what).toEqual({});
    }
    const asJson = document(await w.run("--json", "apply", w.path("spoiled.ndjson")));
    expect(asJson.error).toMatchObject({ code: "plan.refused", exit: 64 });
    expect(asJson.error.cure).toContain("crm-sync plan --out");
    const nowhere = await w.run("apply", w.path("nowhere.ndjson"));
    expect(nowhere.exitCode).toBe(64);
    expect(nowhere.stderr).toContain("nowhere.ndjson");

    const other = await world({ isOnMachineTime: true });
    await other.run("migrate");
    writeFileSync(other.path("plan.ndjson"), readFileSync(w.path("plan.ndjson")));
    const foreign = await other.writes(() => other.run("apply", other.path("plan.ndjson")));
    expect(foreign.result.exitCode).toBe(64);
    expect(foreign.result.stderr).toContain("made for another ledger");
    expect(foreign.calls).toEqual({});
  });

  it("takes the place of an earlier plan, and of nothing else", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true, records: company(1, 1) });
    await w.run("migrate");
    for (const name of ["crm-sync.yaml", "data/orders.ndjson", "ledger.db", "data"]) {
      const reason = name === "data" ? "that is no file" : "a file is there that is no saved plan, and would be lost";
      const before = name === "data" ? "" : readFileSync(w.path(name), "latin1");
      for (const words of [
        ["plan", "--out", w.path(name)],
        ["undo", "run_1", "--out", w.path(name)],
      ]) {
        const refused = await w.run(...words);
        expect([refused.exitCode, refused.stderr], words.join(" ")).toEqual([
          64,
          expect.stringContaining(`the plan is not written to ${w.path(name)}: ${reason}`),
        ]);
      }
      if (name !== "data") expect(readFileSync(w.path(name), "latin1")).toBe(before);
    }
    const report = ["report", "orders", "--period", "2026-10", "--format", "csv", "--out", w.path("ledger.db")];
    const lost = await w.run(...report);
    expect([lost.exitCode, lost.stderr]).toEqual([64, expect.stringContaining("a database is there")]);
    writeFileSync(w.path("plan.ndjson"), "");
    for (const _ of [1, 2]) expect((await w.run("plan", "--out", w.path("plan.ndjson"))).exitCode).toBe(2);
    expect((await w.run("apply", w.path("plan.ndjson"))).exitCode).toBe(0);
  });

  it("is refused for a customer that changed since, and for no other", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true });
    await w.run("plan", "--out", w.path("plan.ndjson"));
    const [first] = w.customers;
    if (first !== undefined) first.name = `${canary.name} renamed`;
    w.write();
    // The ledger learns of the change through another plan; the saved one no longer fits.
    await w.run("plan", "--customer", "C1");
    const { result, calls } = await w.writes(() => w.run("apply", w.path("plan.ndjson")));
    expect(result.stdout).toContain(
      "refused: crm/C1 changed since the plan was made: the customer changed in the CRM\n",
    );
    expect(result.stdout).toContain("refused: 1 customer(s) changed since the plan was made");
    expect(result.exitCode).toBe(3);
    expect(calls).toEqual({ E2: 1, E5: 1, E9: 1, M1: 1, M9: 2 });
    expect(w.rows<{ customer_id: string }>("select customer_id from link")).toEqual([{ customer_id: "C2" }]);
    const run = await w.run("run", "everything");
    expect(run.exitCode).toBe(0);
    expect(w.sandbox.state().enterprises).toBe(2);
  });

  it("is refused when another run did the work in between", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true });
    await w.run("run", "customers-and-orders");
    await w.run("plan", "--out", w.path("plan.ndjson"));
    const one = w.start("run", "everything");
    expect((await one.ended).exitCode).toBe(0);
    const { result, calls } = await w.writes(() => w.run("apply", w.path("plan.ndjson")));
    expect(calls).toEqual({});
    expect(result.exitCode).not.toBe(0);
  });
});

it("a saved plan names every row of A1–A43 that an operation rests on, by what is in it", async () => {
  const w = await world({ isOnMachineTime: true });
  await w.run("plan", "--out", w.path("plan.ndjson"));
  const saved = z.object({
    operations: z.array(z.object({ endpoint: z.string(), restsOn: z.array(z.string()) })).default([]),
  });
  const lines = readFileSync(w.path("plan.ndjson"), "utf8").trimEnd().split("\n");
  const operations = lines.flatMap((text) => saved.parse(JSON.parse(text)).operations);
  const of = (endpoint: string): string[] => operations.find((item) => item.endpoint === endpoint)?.restsOn ?? [];
  expect(of("E5")).toEqual(["A17", "A12", "A39", "A22", "A21"]);
  expect(of("M9")).toEqual(["A33"]);
});
