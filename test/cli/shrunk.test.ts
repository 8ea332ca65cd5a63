import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";

it(
  "a source that shrank is not believed, and the command that is printed with it believes it once",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(5, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.staff.length = 2;
    w.write();
    let printed = "";
    for (const words of [
      ["run", "everything"],
      ["resync", "--source", "hr"],
    ]) {
      const ended = await w.run(...words);
      expect(ended.exitCode, ended.stdout + ended.stderr).toBe(7);
      expect(ended.stdout).toMatch(/lost 3 of 5 records [^]*nothing is taken away/u);
      [, printed = ""] = /`crm-sync (run \S+ --accept-shrink hr)`/u.exec(ended.stdout) ?? [];
    }
    const believed = await w.run(...printed.split(" "));
    expect(believed.stdout).not.toContain("nothing is taken away");
    expect(believed.exitCode, believed.stdout + believed.stderr).toBe(0);
    expect((await w.run("run", "everything")).stdout).not.toContain("nothing is taken away");
    const activity = await w.run("report", "activity", "--period", new Date().toISOString().slice(0, 7));
    expect(activity.stdout.match(/,overrode a limit,shrink-accepted,/gu)).toHaveLength(1);
  },
);

it("a source that shrinks from plan to plan has shrunk since the last run, since a plan counts for nothing", async () => {
  const w = await world({ records: { ...company(1, 1), staff: [] } });
  const person = (n: number) => ({
    id: `S${n}`,
    customer: "C1",
    login: `zqcanarylogin${n}`,
    name: `Zqcanary Person ${n}`,
  });
  w.staff = Array.from({ length: 25 }, (_, index) => person(index + 1));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const left of [21, 17]) {
    w.staff.length = left;
    w.write();
    await w.run("plan");
  }
  const ended = await w.run("run", "everything");
  expect(ended.stdout).toMatch(/lost 8 of 25 records/u);
  expect(ended.exitCode).toBe(7);
});

it(
  "what only a plan has read whole is not lost unseen: nothing is taken away for orders that the first run does not find",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 2) });
    w.extra =
      "jobs:\n  people: { kind: sync, streams: [staff] }\n  everything: { kind: sync, streams: [customers, orders, staff] }\n";
    w.write();
    expect((await w.does("plan")).exitCode).toBe(2);
    // Until now a plan alone has read customers and orders, and they are worked on all the same.
    expect((await w.does("run", "people")).exitCode).toBe(0);
    const orders = w.orders.splice(0);
    const given = w.staff.map((person) => ({ ...person }));
    for (const person of w.staff) person.holds = [];
    w.write();
    const ended = await w.does("run", "everything");
    expect(ended.stdout).toMatch(/lost 2 of 2 records [^]*nothing is taken away/u);
    expect([ended.exitCode, ended.sent]).toEqual([7, 0]);
    w.orders.push(...orders);
    w.staff.splice(0, w.staff.length, ...given);
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
  },
);

it(
  "what a broken off first read has shown is not lost unseen: nothing is taken away for a file that is empty afterwards",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 2) });
    const file = w.path("data/staff.ndjson");
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, whole.slice(0, -20));
    expect((await w.does("run", "everything")).exitCode).toBe(7);
    expect(w.sandbox.state().assignments).toBe(3);
    for (let reading = 0; reading < 4; reading += 1) {
      writeFileSync(file, "");
      const ended = await w.does("run", "everything");
      expect(ended.stdout).toMatch(/lost 3 of 3 records [^]*nothing is taken away/u);
      expect(ended.exitCode).toBe(7);
    }
    expect(w.sandbox.state().assignments).toBe(3);
    writeFileSync(file, whole);
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    expect(w.sandbox.state().assignments).toBe(4);
  },
);
