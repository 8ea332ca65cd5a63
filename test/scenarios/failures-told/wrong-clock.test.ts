import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { auditEntries, unsettled } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { rule } from "../../support/world/placed-orders.ts";

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const year = 8_766 * hour;
const day = 24;

/** Everything is done. A person who leaves is removed after two reads over a day. */
async function lived(): Promise<World> {
  const w = await world();
  w.extra = "limits: { absenceReads: 2, absenceTime: 24h, removals: { enterprise: { floor: 50, share: 1 } } }\n";
  w.write();
  rule(w, "staff.left", "apply");
  await runs(w, 0);
  return w;
}

async function runs(w: World, exitCode: number): Promise<Record<string, number>> {
  const ended = await w.does("run", "everything");
  expect(ended.exitCode, `${ended.stdout}${ended.stderr}`).toBe(exitCode);
  return ended.calls;
}

/** A run whose computer has another time than the services, as long as it lasts. */
async function runsAhead(w: World, ms: number): Promise<Record<string, number>> {
  w.ahead = ms;
  const calls = await runs(w, 3);
  w.ahead = 0;
  return calls;
}

function leaves(w: World, id = "S1-1"): void {
  w.staff = w.staff.filter((person) => person.id !== id);
  w.write();
}

function orders(w: World, id: string): void {
  w.orders.push({ id, customer: "C1", assets: [`A-${id}`] });
  w.write();
}

async function ordersIn(w: World, period: string): Promise<string[]> {
  const { stdout } = await w.run("report", "orders", "--period", period);
  return ["O1", "O2", "N1", "N2"].filter((id) => stdout.includes(`crm/${id}`));
}

/** What `clock` says: whether it is trusted, and why not. */
async function said(w: World): Promise<string> {
  const { trusted, message = "" } = await w.ask("clock");
  return trusted === true ? "trusted" : message;
}

/** What stands in `status` of the clock. */
async function issue(w: World): Promise<string | undefined> {
  const { stdout } = await w.run("status");
  return /nothing was ended or removed by time.*\n.*/u.exec(stdout)?.[0].replaceAll(/\s+/gu, " ");
}

async function backup(w: World, keep: number): Promise<Parsed> {
  const { exitCode, stdout } = await w.run("--json", "backup", "--to", w.path("backups"), "--keep", `${keep}`);
  return { exitCode, ...JSON.parse(stdout) };
}

async function correct(w: World): Promise<Parsed> {
  return await w.ask("clock", "correct", "--reason", "a new battery", "--by", "anna.lee");
}

describe("with the clock of the computer in 2036", () => {
  it("no history is thinned, an issue has the times, and the run does everything else", async () => {
    const w = await lived();
    orders(w, "N1");
    expect(await runsAhead(w, 10 * year)).toMatchObject({ E5: 1 });
    const entries = await auditEntries(w);
    expect(entries.filter(({ kind }) => kind === "retention")).toEqual([]);
    expect(await issue(w)).toMatch(/2036-.*order-service says 2026-11-02.*→ correct the clock/u);
    // What stood before can be asked for: nothing of it is gone.
    expect((await w.run("report", "orders", "--period", "2026-11", "--as-of", "2026-11-02T08:05")).exitCode).toBe(0);
  });

  it("the run says the times in the configured zone", async () => {
    const w = await lived();
    const settings = w.path("crm-sync.yaml");
    writeFileSync(settings, readFileSync(settings, "utf8").replace("zone: UTC", "zone: Europe/Berlin"));
    w.ahead = 10 * year;
    for (const job of ["everything", "verify"])
      expect((await w.run("run", job)).stdout, job).toMatch(/^clock: .* 2036-\d\d-\d\d \d\d:\d\d:\d\d \+01:00/mu);
  });

  it("nobody who is missing counts as gone", async () => {
    const w = await lived();
    leaves(w);
    expect(await runs(w, 0)).toEqual({});
    expect(await runsAhead(w, 25 * hour)).toEqual({});
    expect(await runsAhead(w, 26 * hour)).toEqual({});
    await correct(w);
    expect(await runs(w, 0)).toEqual({});
    w.later(day);
    expect(await runs(w, 0)).toMatchObject({ M9: 1 });
  });

  it("a read does not begin the time over which a record is missing", async () => {
    const w = await lived();
    leaves(w);
    expect(await runsAhead(w, -30 * hour)).toEqual({});
    expect(await runs(w, 0)).toEqual({});
    expect(await runs(w, 0)).toEqual({});
  });

  it("no backup is taken away, and copies that bear a time to come never are", async () => {
    const w = await lived();
    const real = [await backup(w, 9), await backup(w, 9), await backup(w, 9)];
    w.ahead = 10 * year;
    const wrong = [await backup(w, 3), await backup(w, 3), await backup(w, 3)];
    expect(wrong.map(({ exitCode }) => exitCode)).toEqual([3, 3, 3]);
    expect(wrong[0].clock.message).toMatch(/more than a day.*2036/u);
    w.ahead = 0;
    const last = await backup(w, 3);
    expect([last.exitCode, last.removed]).toEqual([0, [real[0].path]]);
    for (const { path } of [...real.slice(1), ...wrong, last]) expect(existsSync(path)).toBe(true);
  });

  it("no month is closed, until what it wrote is corrected: then each order is in one month", async () => {
    const w = await lived();
    orders(w, "N1");
    await runsAhead(w, 10 * year);
    w.later(30 * day);
    await runs(w, 3);
    expect(await ordersIn(w, "2026-11")).toEqual(["O1", "O2"]);
    const refused = await w.run("report", "close", "2026-11");
    expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining("clock correct --reason TEXT")]);
    const before = await auditEntries(w);

    const { rows, first, last } = await correct(w);
    expect(rows).toBeGreaterThan(0);
    const after = await auditEntries(w);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.at(-1)).toMatchObject({ kind: "clock-corrected", subject: "ledger" });
    expect(JSON.parse(after.at(-1).body)).toMatchObject({ by: "anna.lee", reason: "a new battery", first, last });
    expect(before.filter(({ at }) => at > "2036").map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    );
    expect((await w.run("audit", "verify")).exitCode).toBe(0);

    await runs(w, 0);
    expect(await ordersIn(w, "2026-11")).toEqual(["O1", "O2", "N1"]);
    expect([await ordersIn(w, "2026-12"), await ordersIn(w, "2036-11")]).toEqual([[], []]);
    expect((await w.run("report", "close", "2026-11")).exitCode).toBe(0);
    expect((await w.run("report", "orders", "--period", "2026-11", "--as-of", "2026-12-01T00:00")).exitCode).toBe(0);
    expect((await w.run("report", "print", "2026-11", "--out", w.folder)).exitCode).toBe(0);
    expect(await said(w)).toBe("trusted");
  });
});

it("a clock that is set back into a closed month books an order in the open one", async () => {
  const w = await lived();
  w.later(30 * day);
  await runs(w, 0);
  expect((await w.run("report", "close", "2026-11")).exitCode).toBe(0);
  orders(w, "N1");
  expect(await runsAhead(w, -20 * day * hour)).toMatchObject({ E5: 1 });
  expect(await issue(w)).toContain("correct the clock");
  orders(w, "N2");
  expect(await runs(w, 0)).toMatchObject({ E5: 1 });
  expect([await ordersIn(w, "2026-11"), await ordersIn(w, "2026-12")]).toEqual([
    ["O1", "O2"],
    ["N1", "N2"],
  ]);
  expect((await w.run("report", "print", "2026-11", "--out", w.folder)).exitCode).toBe(0);
  w.later(31 * day);
  await runs(w, 0);
  expect((await w.run("report", "close", "2026-12")).exitCode).toBe(0);
});

it("what was read before the first entry of a wrong time is moved back with it, and not by another wrong time", async () => {
  const w = await lived();
  orders(w, "N1");
  await runsAhead(w, 10 * year);
  w.staff = w.staff.map((person) => (person.id === "S1-1" ? { ...person, name: "Zqcanary Other" } : person));
  w.write();
  const stop = w.stopsAt("M6");
  w.ahead = 40 * day * hour;
  const running = w.does("run", "everything");
  await stop.reached;
  w.later(0.01);
  stop.goOn();
  await running;
  w.ahead = 0;
  expect((await correct(w)).spans).toHaveLength(2);
  await runs(w, 0);
  expect((await auditEntries(w)).filter(({ kind }) => kind === "retention")).toEqual([]);
});

it("the last run is the one that was made last, also where the clock was set back before it", async () => {
  const w = await lived();
  orders(w, "N1");
  await runs(w, 0);
  orders(w, "N2");
  await runsAhead(w, -20 * day * hour);
  const { steps } = await w.ask("undo", "last");
  expect(JSON.stringify(steps)).toContain("N2");
  expect(JSON.stringify(steps)).not.toContain("N1");
});

describe("the clock is compared with the Date headers of the services", () => {
  it.each([
    [299 * second, 0],
    [-299 * second, 0],
    [300 * second, 0],
    [-300 * second, 0],
    [301 * second, 3],
    [-301 * second, 3],
  ])("a difference of %i ms ends with %i", async (ahead, exitCode) => {
    const w = await lived();
    orders(w, "N1");
    w.sandbox.dates.set("order", -ahead);
    w.sandbox.dates.set("member", -ahead);
    expect(await runs(w, exitCode)).toMatchObject({ E5: 1 });
  });

  it("one that disagrees with the other is told, with the three times, until it is right again", async () => {
    const w = await lived();
    orders(w, "N1");
    w.sandbox.dates.set("member", 20 * year);
    w.staff.push({ id: "S1-9", customer: "C1" });
    w.write();
    await runs(w, 3);
    expect(await issue(w)).toMatch(
      /do not agree.*this computer says 2026-.*order-service says 2026-.*member-center says 2046-.*provider of the service/u,
    );
    expect((await backup(w, 3)).exitCode).toBe(3);
    w.sandbox.dates.delete("member");
    orders(w, "N2");
    await runs(w, 0);
    expect([await issue(w), await said(w), (await backup(w, 3)).exitCode]).toEqual([undefined, "trusted", 0]);
  });

  it("one that sends none leaves it to the other", async () => {
    const w = await lived();
    w.sandbox.dates.set("order", "none");
    orders(w, "N1");
    w.later(2 * day);
    await runs(w, 0);
    leaves(w);
    await runs(w, 0);
    w.later(day);
    expect(await runs(w, 0)).toMatchObject({ M9: 1 });
  });

  it("without any, nothing is ended by time, and everything else is done", async () => {
    const w = await lived();
    for (const service of ["order", "member"] as const) w.sandbox.dates.set(service, "none");
    w.later(2 * day);
    orders(w, "N1");
    leaves(w);
    expect(await runs(w, 3)).toMatchObject({ E5: 1 });
    w.later(2 * day);
    expect(await runs(w, 3)).toEqual({});
    expect(await issue(w)).toContain("no service has said");
  });
});

describe("a computer whose clock is right", () => {
  it("is trusted after it was set back by some minutes", async () => {
    const w = await lived();
    w.ahead = 4 * minute;
    await runs(w, 0);
    w.ahead = 0;
    await runs(w, 0);
    expect(await said(w)).toBe("trusted");
  });

  it("is trusted after it was suspended in the middle of a run", async () => {
    const w = await lived();
    orders(w, "N1");
    w.staff.push({ id: "S1-9", customer: "C1" });
    w.write();
    const stop = w.stopsAt("M1", { when: "after" });
    const running = w.does("run", "everything");
    await stop.reached;
    // What counts for time that passes stood still, and the clock did not.
    w.ahead = 60 * hour;
    for (const service of ["order", "member"] as const) w.sandbox.dates.set(service, 60 * hour);
    stop.goOn();
    const { exitCode, stdout } = await running;
    expect(exitCode, stdout).toBe(0);
  });
});

it("what a service said last is enough for a day", async () => {
  const w = await lived();
  await backup(w, 1);
  w.later(day - 1);
  expect((await backup(w, 1)).removed).toHaveLength(1);
  w.later(1);
  const late = await backup(w, 1);
  expect([late.exitCode, late.removed]).toEqual([3, []]);
  expect(late.clock).toMatchObject({ message: expect.stringContaining("more than a day"), cure: /run a job/u });
  expect((await w.run("report", "sign-off", "2026-11", "x:1", "--reason", "known")).exitCode).toBe(3);
  await runs(w, 0);
  expect((await backup(w, 1)).removed).toHaveLength(2);
});

it("a service that said a wrong time and is right again is asked anew by a job that needs no service", async () => {
  const w = await world();
  w.extra = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  copies: { kind: backup, to: copies, keep: 1 }
`;
  w.write();
  w.sandbox.dates.set("member", 20 * year);
  await runs(w, 3);
  w.sandbox.dates.clear();
  for (let copy = 0; copy < 2; copy += 1) expect((await w.run("run", "copies")).exitCode).toBe(0);
});

it("a clock that is set forward empties no window of the limits", async () => {
  const w = await world();
  w.extra = "limits: { absenceReads: 1, absenceTime: 0s, removals: { day: { floor: 1, share: 0 } } }\n";
  w.write();
  rule(w, "staff.left", "apply");
  await runs(w, 0);
  leaves(w);
  expect(await runs(w, 0)).toMatchObject({ M9: 1 });
  leaves(w, "S2-1");
  // The read itself is trusted, and the clock is set forward after it.
  const stop = w.stopsAt("M6");
  const running = w.does("run", "everything");
  await stop.reached;
  w.ahead = 2 * day * hour;
  stop.goOn();
  const ended = await running;
  w.ahead = 0;
  expect([ended.exitCode, ended.calls]).toEqual([4, {}]);
});

it("a clock that is ahead ends no settle time of an earlier run, and one that is right again does", async () => {
  const w = await lived();
  w.environment["CRM_SYNC__settle__timeMs"] = "1800000";
  orders(w, "N1");
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect(await runs(w, 5)).toEqual({ E5: 1 });
  w.sandbox.faults.clear();
  w.ahead = hour;
  for (let run = 0; run < 4; run += 1) expect(await runs(w, 5)).toEqual({});
  const [{ id }] = await unsettled(w);
  const early = await w.run("settle", id, "--not-applied", "--reason", "not there");
  expect([early.exitCode, early.stderr]).toEqual([64, expect.stringContaining("the call can still take effect until")]);
  w.ahead = 0;
  w.later(2);
  expect(await runs(w, 0)).toEqual({ E5: 1 });
});

it("a correction ends no settle time", async () => {
  const w = await lived();
  w.environment["CRM_SYNC__settle__timeMs"] = "1800000";
  w.later(day);
  orders(w, "N1");
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  w.ahead = 10 * year;
  expect(await runs(w, 5)).toEqual({ E5: 1 });
  w.ahead = 0;
  w.sandbox.faults.clear();
  await correct(w);
  for (let run = 0; run < 3; run += 1) expect(await runs(w, 5)).toEqual({});
  w.later(1);
  expect(await runs(w, 0)).toEqual({ E5: 1 });
});

it("nor does one that is set back", async () => {
  const w = await world();
  w.extra = "limits: { removals: { day: { floor: 1, share: 0 } } }\n";
  w.environment["CRM_SYNC__policies__assignments__revoked"] = "apply";
  w.write();
  await runs(w, 0);
  const loses = (id: string): void => {
    w.staff = w.staff.map((person) => (person.id === id ? { ...person, holds: [] } : person));
    w.write();
  };
  loses("S1-1");
  expect(await runsAhead(w, -2 * day * hour)).toMatchObject({ M9: 1 });
  loses("S2-1");
  expect(await runs(w, 4)).toEqual({});
});

it("the command that corrects needs a service that agrees, and changes nothing where nothing is wrong", async () => {
  const w = await lived();
  expect(await correct(w)).toMatchObject({ rows: 0, spans: [] });
  await runsAhead(w, 10 * year);
  w.sandbox.dates.set("order", 6 * minute);
  const refused = await w.run("clock", "correct", "--reason", "a new battery");
  expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining("nothing was corrected")]);
  expect((await auditEntries(w)).some(({ kind }) => kind === "clock-corrected")).toBe(false);
});
