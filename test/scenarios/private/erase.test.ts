import { appendFileSync, copyFileSync } from "node:fs";
import { expect, it } from "vitest";
import { auditEntries, operationsOf, unsettled } from "../../support/asking.ts";
import { exportOf, verifierAlone } from "../../support/audit-record.ts";
import { document, type Parsed, type World } from "../../support/cli.ts";
import { bytesOf, eraseGone, gone, livedWithGone, nothingWaits, runs } from "../../support/gone-customer.ts";
import { crmSync, type Ended } from "../../support/program.ts";
import { canary } from "../../support/world/crm.ts";
import { sqlite } from "../../support/world/start.ts";

/** A command that may print something private. */
async function showing(w: World, ...words: string[]): Promise<Ended> {
  w.later(1);
  return await crmSync({ ...w.place, clock: w.clock }, ...words);
}

/** What is kept of somebody: their values, and how they came. */
async function keptOf(w: World, ...whose: string[]): Promise<unknown> {
  const { versions } = document(await showing(w, "--json", "audit", "subject", "--by", "ben", ...whose));
  return versions;
}

const erasures = async (w: World): Promise<Parsed[]> => (await auditEntries(w)).filter(({ kind }) => kind === "erased");

/** A row of the staff that no record can be made from, and that repeats what is kept of somebody of C1. */
const unusable = (w: World, note: string): void =>
  appendFileSync(w.path("data/staff.ndjson"), `{"note":"${note}","name":"Zqcanary Gone Married"}\n`);

it(
  "a customer is erased with its people, every proof stays good, and nobody else is touched",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    // A service says the name in its answer, and a source gives rows that nobody can read.
    const [first] = w.customers;
    w.customers[0] = { ...first, id: "C1", address: "Zqcanary Gone Road 2" };
    w.write();
    unusable(w, "before");
    w.sandbox.faults.add({ operation: "E4", fault: "oddCode", code: "Zqcanary Gone Works is there", times: 1 });
    await showing(w, "run", "everything");
    w.write();
    await runs(w, 0);
    await gone(w);
    await nothingWaits(w);
    await showing(w, "explain", "staff", "S1-1", "--show-private", "--by", "ben");
    unusable(w, "now");
    await runs(w, 3);
    const before = bytesOf(w);
    expect(before.some((found) => found.startsWith("ledger.db: "))).toBe(true);
    const proof = w.path("before.json");
    expect((await w.run("audit", "prove", "--order", "O1", "--out", proof)).exitCode).toBe(0);
    const others = [await keptOf(w, "--customer", "C2"), await keptOf(w, "--person", "S2-1")];
    copyFileSync(w.path("ledger.db"), w.path("ledger.db.bak"));

    expect((await w.run("login")).exitCode).toBe(0);

    const erased = await w.run(...eraseGone);
    expect([erased.exitCode, erased.stderr]).toEqual([0, ""]);
    // It names where more of it may lie, and no file of the program's own.
    for (const left of ["ledger.db.bak", "hr staff.ndjson:3", "that ben saw", "backups"])
      expect(erased.stdout).toContain(left);
    for (const own of ["ledger.db.lock", "ledger.db.heads", "ledger.db.sessions", "ledger.db-"])
      expect(erased.stdout).not.toContain(own);

    // No byte of it is left where the ledger lies, and what is of others is as it was.
    expect(bytesOf(w).filter((found) => !found.startsWith("ledger.db.bak"))).toEqual([]);
    expect([await keptOf(w, "--customer", "C2"), await keptOf(w, "--person", "S2-1")]).toEqual(others);

    // The record holds, by the program and without it; so does a proof that was handed out before.
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
    const verify = verifierAlone();
    expect(verify(await exportOf(w), "--heads", w.path("ledger.db.heads"))).toMatchObject({ code: 0 });
    expect(verify(proof)).toMatchObject({ code: 0 });
    expect((await w.run("audit", "prove", "--order", "O1", "--out", w.path("after.json"))).exitCode).toBe(0);
    expect(verify(w.path("after.json"))).toMatchObject({ code: 0 });
    const [entry] = await erasures(w);
    expect(entry).toMatchObject({ subject: "customer:crm/C1" });
    expect(JSON.parse(entry.body)).toMatchObject({ by: "anna.lee", reason: "request 17" });

    // Whoever asks is told that it is erased.
    for (const [stream, id, name] of [
      ["customer", "C1", /\(erased\): .*\bname\b/u],
      ["staff", "S1-1", /\(erased\): .*\bname\b/u],
      ["staff", "S2-1", /\(private\): .*\bname\b/u],
    ] as const)
      expect((await w.run("explain", stream, id)).stdout).toMatch(name);
    for (const kind of ["orders", "reconciliation", "exceptions"])
      expect((await w.run("report", kind, "--period", "2026-11")).exitCode).toBe(0);

    // Once more erases nothing, and what follows places nothing anew.
    expect((await w.run(...eraseGone)).exitCode).toBe(0);
    expect(await erasures(w)).toHaveLength(1);
    w.write();
    const then = await w.does("run", "everything");
    expect([then.exitCode, then.calls], then.stdout).toEqual([0, {}]);
  },
);

it(
  "who comes back after that is a new record, whose values nobody can tell from the ones before",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    const { customers, orders, staff } = w;
    const marks = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const [kind, id] of [
        ["customer", "C1"],
        ["staff", "S1-1"],
      ] as const)
        for (const { mark } of (await w.ask("explain", kind, id)).versions[0].fields)
          if (mark !== undefined) found.push(mark);
      return found;
    };
    const before = await marks();
    await gone(w);
    await nothingWaits(w);
    expect((await w.run(...eraseGone)).exitCode).toBe(0);
    Object.assign(w, { customers, orders, staff });
    w.write();
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls], "its order and its accounts are there").toEqual([0, { E4: 1, M9: 2 }]);
    expect(bytesOf(w, ["Zqcanary Gone Works"])).not.toEqual([]);
    const after = await marks();
    expect(after).toHaveLength(before.length);
    expect(after.filter((one) => before.includes(one))).toEqual([]);
    expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
  },
);

it("nothing is erased that the CRM still gives, or while anything waits", { tags: "long" }, async () => {
  const w = await livedWithGone();
  const refused = async (code: string, ...words: string[]): Promise<void> => {
    const { exitCode, stdout, stderr } = await w.run("--json", "audit", "erase", ...words);
    expect([exitCode, stdout + stderr]).toEqual([64, expect.stringContaining(`"${code}"`)]);
  };
  const why = ["--reason", "request 17", "--by", "anna.lee"];
  await refused("erase.current", "--customer", "C1", ...why);
  await refused("erase.current", "--person", "S1-1", ...why);
  await refused("record.unknown", "--customer", "C9", ...why);
  await refused("usage", "--customer", "C1", "--person", "S1-1", ...why);
  await refused("usage", ...why);
  await refused("usage", "--customer", "C1", "--by", "anna.lee");
  // An order of it was sent, and nobody knows what became of it.
  w.extra += "orders: { unseen: ask }\n";
  w.orders.push({ id: "O7", customer: "C1", assets: ["O7-A1"] });
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  await runs(w, 5);
  w.sandbox.faults.clear();
  await gone(w, 5);
  await refused("erase.open-operation", "--customer", "C1", ...why);
  const [{ id: parked }] = (await unsettled(w)) as [Parsed];
  expect((await w.run("settle", parked, "--not-applied", "--reason", "none", "--by", "anna")).exitCode).toBe(0);
  await runs(w, 4);
  await refused("erase.open-operation", "--customer", "C1", ...why);
  await nothingWaits(w);
  for (const named of ["Zqcanary Gone Boss", `${canary.person} 2 1`, `${canary.name} 2`]) {
    const { exitCode } = await showing(
      w,
      "audit",
      "erase",
      "--customer",
      "C1",
      "--reason",
      `${named} asked`,
      "--by",
      "x",
    );
    expect(exitCode, named).toBe(64);
  }
  w.orders.push({ id: "O9", customer: "C2", assets: ["O9-A1"] });
  w.write();
  const stop = w.stopsAt("E5");
  const running = w.run("run", "everything");
  await stop.reached;
  expect((await w.run(...eraseGone)).exitCode, "while a run goes on").toBe(75);
  stop.goOn();
  await running;
  expect(bytesOf(w)).not.toEqual([]);
  expect(await erasures(w)).toEqual([]);
});

it("a person is erased alone, and the rest of the customer stays", async () => {
  const w = await livedWithGone();
  w.staff = w.staff.filter(({ id }) => id !== "S1-1");
  w.write();
  await runs(w, 0);
  const erased = await w.ask("audit", "erase", "--person", "S1-1", "--reason", "request 18", "--by", "anna.lee");
  expect(erased).toMatchObject({ of: "staff:crm/S1-1", counts: { values: 2 } });
  expect(bytesOf(w, ["zqcanarygone0", "Zqcanary Gone Person 0", "Zqcanary Gone Married"])).toEqual([]);
  expect(bytesOf(w, ["zqcanarygone1"])).not.toEqual([]);
  await runs(w, 0);
});

it(
  "while somebody reads the ledger its old bytes stay in the log, which is said, and the next time overwrites them",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    await gone(w);
    await nothingWaits(w);
    const reader = sqlite(w.path("ledger.db"), { readonly: true });
    reader.exec("begin");
    reader.prepare("select count(*) from audit").get();
    expect((await w.run(...eraseGone)).exitCode).toBe(1);
    expect(bytesOf(w)).not.toEqual([]);
    expect((await w.run("status")).stdout).toContain("audit erase --customer crm/C1");
    reader.exec("commit");
    expect((await w.run(...eraseGone)).exitCode).toBe(0);
    expect(bytesOf(w)).toEqual([]);
    expect((await w.run("status")).stdout).not.toContain("audit erase");
  },
);

it("what is undone or asked for after that sends nothing without the value", { tags: "long" }, async () => {
  const w = await livedWithGone();
  const renaming = (await operationsOf(w, "staff", "S1-1")).find(({ kind }) => kind === "edit-staff");
  await gone(w);
  await nothingWaits(w);
  expect((await w.run(...eraseGone)).exitCode).toBe(0);
  const why = ["--reason", "lost the letter", "--by", "anna.lee"];
  for (const [exitCode, ...words] of [
    [3, "undo", renaming.runId],
    [64, "staff", "reset-password", "S1-1", ...why],
    [64, "staff", "password", "S1-1"],
    [0, "resync", "--customer", "C1"],
    [0, "plan", "--customer", "C1"],
  ] as const) {
    const then = await w.does(...words);
    expect.soft([then.exitCode, then.calls], words.join(" ")).toEqual([exitCode, {}]);
  }
});
