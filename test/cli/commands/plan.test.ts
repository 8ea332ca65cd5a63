import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { crmSync } from "../../support/program.ts";
import { canary, company } from "../../support/world/crm.ts";
import { document, documents, world, type Parsed } from "../../support/cli.ts";

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
  const forPeople = (await w.run("plan", "--verbose")).stdout;
  for (const unknown of ["E3", "E9"]) expect(forPeople).toContain(`(known after ${unknown})`);
  expect((await w.ask("explain", "order", "O2")).operations.total).toBe(0);
});

describe("a plan for people", () => {
  it("says how much, then by customer what is done, with the names that whoever reads may see", async () => {
    const w = await world({ records: company(1, 1) });
    const first = await w.run("plan");
    expect(first.exitCode).toBe(2);
    expect(first.stdout.split("\n")).toEqual([
      "Plan: 4 changes. Nothing was sent.",
      "",
      `C1  ${canary.name} 1`,
      "  + create the enterprise",
      "  + place order O1: 1 × Product O1-A1-P (3 nodes, 1 year)",
      "  + add staff S1-1",
      "  + assign 1 × Product O1-A1-P to S1-1",
      "",
      "Changes are pending: `crm-sync apply` makes them (exit 2).",
      "",
    ]);
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const [customer, person] = [w.customers[0], w.staff[0]];
    if (customer === undefined || person === undefined) throw new Error("the world has one of each");
    customer.name = `${canary.name} One`;
    Object.assign(person, { holds: [], mobile: `${canary.mobile}1` });
    w.write();
    const { stdout, exitCode } = await w.run("plan");
    expect(stdout).toContain(`  ~ rename customer C1: ${canary.name} 1 → ${canary.name} One\n`);
    expect(stdout).toContain("  ~ update staff S1-1: mobile\n");
    expect(stdout).toMatch(
      / {2}− unassign 1 × Product O1-A1-P from S1-1: the CRM no longer gives this person 1 asset\n/u,
    );
    expect(exitCode).toBe(2);
    expect(JSON.stringify(documents(await w.run("--json", "plan")))).not.toContain(canary.name);
    await w.run("run", "everything");
    const nothing = await w.run("plan");
    expect([nothing.exitCode, nothing.stdout.split("\n", 1)]).toEqual([0, ["Plan: no changes. Nothing was sent."]]);
  });

  it("shows fifty changes, and all of them with --all, which it names as the command was typed", async () => {
    const w = await world({ records: company(30, 1) });
    const { stdout } = await w.run("plan", "--source", "crm");
    const changes = (text: string): number => text.split("\n").filter((line) => line.startsWith("  + ")).length;
    expect([changes(stdout), stdout.split("\n", 1)]).toEqual([50, ["Plan: 60 changes. Nothing was sent."]]);
    expect(stdout).toContain("and 10 more changes for 5 more customers: crm-sync plan --source crm --all\n");
    expect(changes((await w.run("plan", "--source", "crm", "--all")).stdout)).toBe(60);
  });

  it("counts what a person was asked about once, and explain says that it waits for the decision", async () => {
    const w = await world({ records: company(1, 1) });
    w.extra = "policies: { assignments: { revoked: ask } }\n";
    await w.run("run", "everything");
    for (const person of w.staff) person.holds = [];
    w.write();
    const closing = expect.stringMatching(/^1 approval needed \(exit 4\)\. /u);
    expect((await w.run("plan")).last).toEqual(closing);
    expect((await w.run("run", "everything")).exitCode).toBe(4);
    const again = await w.run("plan");
    expect([again.exitCode, again.last]).toEqual([4, closing]);
    expect(again.stdout.split("\n", 1)).toEqual(["Plan: no changes, 1 held. Nothing was sent."]);
    const { stdout } = await w.run("explain", "staff", "S1-1");
    expect(stdout.split("\n", 1)[0]).toMatch(/; waits for a decision$/u);
  });

  it("names no customer that is or was a person", async () => {
    const w = await world({ records: company(1, 1) });
    const config = w.path("crm-sync.yaml");
    const text = readFileSync(config, "utf8");
    const ofPeople = text.replace("value: company", "value: personal");
    expect(ofPeople).not.toBe(text);
    const heads = async (): Promise<string[]> => {
      const outputs = [await w.run("plan"), await w.run("explain", "customer", "C1")];
      expect(outputs.map(({ stdout }) => stdout).join("")).not.toContain(canary.name);
      return outputs.map(({ stdout }) => stdout.split("\n").find((line) => line.includes("C1")) ?? "");
    };
    writeFileSync(config, ofPeople);
    expect((await heads())[0]).toBe("C1");
    await w.run("run", "everything");
    writeFileSync(config, text);
    await w.run("run", "everything", "--accept-mass-change", "crm/customers=1");
    if (w.staff[0] !== undefined) w.staff[0].holds = [];
    w.write();
    expect((await heads())[0]).toBe("C1");
  });

  it("ends with 2 where nothing is worse than a change, and else as the run will", async () => {
    const w = await world({ records: company(1, 1) });
    w.customers.push({ id: "C9", name: "" });
    w.write();
    const bad = await w.run("plan");
    expect([bad.exitCode, bad.last]).toEqual([3, expect.stringMatching(/^1 record in quarantine \(exit 3\)\. /u)]);
    expect(bad.stdout).toContain("1 customer is in quarantine");
    expect((await w.run("run", "everything")).exitCode).toBe(3);
    w.customers.pop();
    w.write();
    expect((await w.run("plan")).exitCode).toBe(0);
  });
});

it.each([
  ["a terminal", { isTTY: true }, {}, true],
  ["a terminal with NO_COLOR", { isTTY: true }, { NO_COLOR: "1" }, false],
  ["a terminal that is dumb", { isTTY: true }, { TERM: "dumb" }, false],
  ["a pipe", {}, {}, false],
])("%s is coloured, or it is plain", async (_name, kind, environment, isColoured) => {
  const w = await world({ records: company(1, 1) });
  let text = "";
  const write = (part: string | Buffer, done?: () => void): boolean => {
    text += String(part);
    done?.();
    return true;
  };
  const place = { ...w.place, environment: { TERM: "xterm", NO_COLOR: "", ...w.place.environment, ...environment } };
  await crmSync({ ...place, stdout: { ...kind, columns: 100, write } }, "plan");
  expect(text).toContain(isColoured ? "\u001B[36mC1\u001B[39m" : "\nC1  ");
  expect(text).toContain(isColoured ? "  \u001B[32m+\u001B[39m place order O1" : "  + place order O1");
  expect(text.includes("\u001B")).toBe(isColoured);
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
