import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { auditEntries, openHold, unsettled, waitsFor } from "../../support/asking.ts";
import { document, world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { changeFile } from "../../support/world/start.ts";
import { serves } from "../../support/serving.ts";
import { outcome } from "../../support/world/members.ts";

const paused = /^Paused since 2026-11-02 08:\d\d:00 UTC by anna\.lee \(the service is repaired\): nothing is written/u;

async function pause(w: World, by = "anna.lee", reason = "the service is repaired"): Promise<string> {
  const ended = await w.run("pause", "--by", by, "--reason", reason);
  expect(ended.exitCode, ended.stderr).toBe(0);
  return ended.stdout;
}

async function resume(w: World): Promise<string> {
  const ended = await w.run("resume", "--by", "tom.fox", "--reason", "it is back");
  expect(ended.exitCode, ended.stderr).toBe(0);
  return ended.stdout;
}

/** What was paused and resumed, by whom and why, by the audit log. */
async function words(w: World): Promise<Parsed[]> {
  const entries = (await auditEntries(w)).filter(({ kind }) => kind === "paused" || kind === "resumed");
  return entries.map(({ kind, body }) => [kind, JSON.parse(body).by, JSON.parse(body).reason]);
}

it("sends nothing while it is paused, says so everywhere, and sends all of it with the first run after", async () => {
  const w = await world({ records: company(2, 2) });
  await w.run("plan");
  expect(await pause(w)).toMatch(paused);
  const kept = await w.does("run", "everything");
  expect([kept.exitCode, kept.calls], kept.stdout).toEqual([4, {}]);
  expect(kept.stdout).toMatch(paused);
  expect(kept.stdout).toContain("`crm-sync resume`");
  expect(await waitsFor(w, "C1", "customer")).toBe("paused");
  for (const command of [["status"], ["explain", "order", "O1"], ["plan"], ["runs"]])
    expect((await w.run(...command)).stdout, command.join(" ")).toMatch(paused);
  const { paused: member } = await w.ask("status");
  expect(member).toEqual({ since: expect.any(String), by: "anna.lee", reason: "the service is repaired" });
  expect(document(await w.run("--json", "run", "everything")).paused).toEqual(member);

  await resume(w);
  const sent = await w.does("run", "everything");
  expect(outcome(sent), sent.stdout).toEqual([0, { E2: 2, E5: 2, E9: 1, M1: 2, M9: 4 }]);
  expect(sent.stdout).not.toContain("Paused");
  expect(await w.ask("status")).not.toHaveProperty("paused");
  expect(await words(w)).toEqual([
    ["paused", "anna.lee", "the service is repaired"],
    ["resumed", "tom.fox", "it is back"],
  ]);
});

it("a run with nothing to send ends as it would", async () => {
  const w = await world({ records: company(1, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  await pause(w);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("plan")).exitCode).toBe(0);
});

describe("two people", () => {
  it("who pause and resume twice are told who did it first", async () => {
    const w = await world({ records: company(1, 1) });
    await w.run("plan");
    const never = await w.run("resume", "--by", "tom.fox");
    expect([never.exitCode, never.stdout]).toEqual([0, "It is not paused, and nothing changed.\n"]);
    await pause(w);
    const again = await pause(w, "tom.fox", "me too");
    expect(again).toMatch(paused);
    expect(again).toContain("paused before, and nothing changed");
    await resume(w);
    expect(await resume(w)).toMatch(/nothing changed\. It was resumed 2026-11-02 08:\d\d:00 UTC by tom\.fox\.$/mu);
    expect(await words(w)).toHaveLength(2);
  });

  it("need a reason to pause, and no names in it", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    await w.run("plan");
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const reason of [[], ["--reason", "call +49 170 5557700"], ["--reason", `asked ${w.staff[0]?.name}`]])
      expect((await w.run("pause", "--by", "anna.lee", ...reason)).exitCode).toBe(64);
    expect(await w.ask("status")).not.toHaveProperty("paused");
  });
});

it("a pause in the middle of a run keeps the rest of it, and nothing waits twice", async () => {
  const w = await world({ records: company(8, 1) });
  w.environment["CRM_SYNC__concurrency__customers"] = "1";
  const gate = w.stopsAt("E5", { nth: 3 });
  const run = w.does("run", "everything");
  await gate.reached;
  const late = await w.run("pause", "--by", "anna.lee", "--reason", "the service is repaired");
  expect([late.exitCode, late.stdout]).toEqual([
    5,
    expect.stringContaining("1 call that began before is still in progress"),
  ]);
  gate.goOn();
  const { calls, ...ended } = await run;
  expect([ended.exitCode, calls["E5"]], ended.stdout).toEqual([4, 3]);
  expect(ended.stdout).toMatch(/adds up[^]*adds up/u);
  expect(ended.stdout).not.toContain("does not");
  expect(await pause(w)).toContain("No call is in progress.");
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  await resume(w);
  const rest = await w.does("run", "everything");
  expect([rest.exitCode, rest.calls["E5"]], rest.stdout).toEqual([0, 5]);
});

it("waits for the call of another process, and a second run sends nothing", async () => {
  const w = await world({ records: company(2, 1), isOnMachineTime: true });
  const gate = w.stopsAt("E5");
  const run = w.run("run", "everything");
  await gate.reached;
  const asked = w.start("pause", "--by", "anna.lee", "--reason", "the service is repaired");
  while ((await w.ask("status")).paused === undefined);
  expect(asked.child.exitCode).toBeNull();
  gate.goOn();
  const ended = await asked.ended;
  expect([ended.exitCode, ended.stdout]).toEqual([0, expect.stringContaining("No call is in progress.")]);
  expect((await run).exitCode).toBe(4);
  expect((await w.does("run", "everything")).calls).toEqual({});
  await w.run("resume");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
});

describe("what a killed process was sending", () => {
  /** A process that is killed in the middle of a call, before the service sees it or after; then a pause. */
  async function killedAt(w: World, operation: "E5" | "M2", when: "before" | "after"): Promise<void> {
    const gate = w.stopsAt(operation, { when });
    const killed = w.start("run", "everything");
    await gate.reached;
    killed.child.kill("SIGKILL");
    await killed.ended;
    gate.goOn();
    expect(await pause(w)).toContain("No call is in progress.");
  }

  it("is settled by reading alone", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1), isOnMachineTime: true });
    await killedAt(w, "E5", "after");
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    expect((await w.ask("status")).known.orders).toBe(1);
    await w.run("resume");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M1: 1, M9: 1 }]);
  });

  it("is not sent again before it is resumed", async () => {
    const w = await world({ records: company(1, 1), isOnMachineTime: true });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    Object.assign(w.staff[0] ?? {}, { mobile: "+4917700700701" });
    w.write();
    await killedAt(w, "M2", "before");
    expect(outcome(await w.does("run", "everything"))).toEqual([5, {}]);
    expect((await unsettled(w))[0].attempts).toHaveLength(1);
    expect((await w.ask("alerts")).alerts.map(({ kind }: Parsed) => kind).toSorted()).toEqual(["paused", "unknown"]);
    await w.run("resume");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
    expect((await w.ask("alerts")).alerts).toEqual([]);
  });
});

describe("keeps for later", () => {
  it("a saved plan, an approved removal and what a person asks for", async () => {
    const w = await world({ records: company(1, 6) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const person of w.staff) person.holds = [];
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    const hold = await openHold(w);
    expect((await w.run("approve", hold, "--reason", "asked the customer")).exitCode).toBe(0);
    await w.run("plan", "--out", w.path("plan.ndjson"));
    await pause(w);
    expect(outcome(await w.does("apply", w.path("plan.ndjson")))).toEqual([4, {}]);
    expect(outcome(await w.does("resync", "--customer", "C1"))).toEqual([4, {}]);
    await resume(w);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 6 }]);
  });

  it("a password that is asked for", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    await pause(w);
    const asked = await w.does("staff", "reset-password", "S1-1", "--reason", "was forgotten");
    expect([asked.exitCode, asked.calls], asked.stdout + asked.stderr).toEqual([4, {}]);
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    await resume(w);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M3: 1 }]);
  });

  it("every share of a run by shares, of which none is called wrong", { tags: "long" }, async () => {
    const w = await world({ records: company(6, 1) });
    await w.run("plan");
    await pause(w);
    const kept = await w.does("run", "everything", "--canary", "30");
    expect(outcome(kept), kept.stdout).toEqual([4, {}]);
    expect(kept.stdout).not.toContain("not as meant");
    await resume(w);
    expect((await w.does("run", "everything", "--canary", "30")).calls["E5"]).toBe(6);
  });

  it("what takes a run back, for the file of the undo alone", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    Object.assign(w.customers[0] ?? {}, { name: "Nordhafen AG" });
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E4: 1 }]);
    await w.run("undo", "last", "--out", w.path("undo.ndjson"));
    await pause(w);
    expect(outcome(await w.does("apply", w.path("undo.ndjson")))).toEqual([4, {}]);
    await resume(w);
    expect((await w.does("apply", w.path("undo.ndjson"))).calls).toEqual({ E4: 1 });
  });
});

it("a restored backup is as paused as the ledger was", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  await w.run("plan");
  await pause(w);
  const { path } = await w.ask("backup", "--to", w.path("backups"));
  await resume(w);
  await w.run("restore", path);
  expect((await w.run("status")).stdout).toMatch(paused);
});

it("a pause that began after the backup stands in the restored ledger too", async () => {
  const w = await world({ records: company(1, 1) });
  await w.run("plan");
  const { path } = await w.ask("backup", "--to", w.path("backups"));
  await pause(w);
  expect((await w.run("restore", path)).stdout).toMatch(
    /^the pause of 2026-11-02 08:\d\d:00 UTC by anna\.lee goes on/mu,
  );
  for (const command of [["status"], ["rebuild"], ["status"]])
    expect((await w.run(...command)).stdout, command.join(" ")).toMatch(paused);
  await resume(w);
  expect((await w.run("status")).stdout).not.toMatch(paused);
});

describe("a pause that began after the backup goes on", () => {
  it.each<[what: string, change: (w: World) => void]>([
    ["a restore that ended when the ledger was moved aside", (w) => movedAside(w)],
    ["damage to the audit log", (w) => changeFile(w.path("ledger.db"), "drop table audit")],
  ])("after %s", async (_, change) => {
    const w = await world({ records: company(1, 1) });
    await w.run("plan");
    const { path } = await w.ask("backup", "--to", w.path("backups"));
    await pause(w);
    change(w);
    const restored = await w.run("restore", path);
    expect(restored.stdout, restored.stderr).toMatch(/^the pause of .* by anna\.lee goes on/mu);
    expect((await w.run("status")).stdout).toMatch(paused);
  });

  it("also where the process that began it was killed before it kept a head", async () => {
    const w = await world({ records: company(1, 1) });
    await w.run("plan");
    const { path } = await w.ask("backup", "--to", w.path("backups"));
    const heads = readFileSync(w.path("ledger.db.heads"));
    await pause(w);
    writeFileSync(w.path("ledger.db.heads"), heads);
    expect((await w.run("restore", path)).stdout).toMatch(/^the pause of .* by anna\.lee goes on/mu);
    expect((await w.run("run", "everything")).stdout).toMatch(paused);
    await resume(w);
    expect((await w.run("run", "everything")).exitCode).toBe(0);
  });
});

it("a restore says that it could not read whether the ledger was paused", async () => {
  const w = await world({ records: company(1, 1) });
  await w.run("plan");
  const { path } = await w.ask("backup", "--to", w.path("backups"));
  await pause(w);
  changeFile(w.path("ledger.db"), "update meta set value = '{' where key = 'pause'");
  expect((await w.run("restore", path)).stdout).toContain("whether it was paused");
});

/** What a restore leaves that is killed before the backup stands in the place of the ledger. */
function movedAside(w: World): void {
  for (const suffix of ["", "-wal", "-shm"])
    if (existsSync(w.path(`ledger.db${suffix}`)))
      renameSync(w.path(`ledger.db${suffix}`), w.path(`ledger.db.before-20261102T080000.000Z${suffix}`));
}

it("is told by alerts, by health and by metrics as long as it is on", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  await w.run("plan");
  const serving = await serves(w);
  const gauge = async (): Promise<string | undefined> =>
    /^crm_sync_paused (\d)$/mu.exec((await serving.get("/metrics")).text)?.[1];
  expect([(await serving.health()).body.wrong, await gauge()]).toEqual([[], "0"]);
  await pause(w);
  const { status, body } = await serving.health();
  expect([status, body.wrong, body.paused]).toEqual([200, ["paused"], { since: expect.any(String) }]);
  expect(await gauge()).toBe("1");
  await w.run("run", "everything");
  expect((await w.ask("alerts")).alerts.map(({ kind }: Parsed) => kind)).toEqual(["paused"]);
  await resume(w);
  await w.run("run", "everything");
  expect((await w.ask("alerts")).alerts).toEqual([]);
});
