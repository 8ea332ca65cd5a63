import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { auditEntries, ran } from "../../support/asking.ts";
import { world, type Parsed } from "../../support/cli.ts";
import { lines } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

/** What a run says of the streams that it does not believe. */
const shrunk = ({ said }: { said: Parsed }): string[] =>
  said.summary.sources.filter((source: Parsed) => source.doubt !== null).map(({ stream }: Parsed) => stream);

it("does not believe a source that shrank, and believes it once by the command that is printed", async () => {
  const w = await world({ records: company(5, 1) });
  expect((await ran(w)).exitCode).toBe(0);
  w.staff.length = 2;
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([7, {}]);
  const alerts = async (): Promise<string[]> => (await w.ask("alerts")).alerts.map(({ kind }: Parsed) => kind);
  expect(await alerts()).toEqual(["source-down"]);
  expect(ended.stdout).toContain("ended, the read of hr/staff is not believed, no changes made");
  expect(ended.stdout).toContain("→ have the CRM export again; the next run continues. Only if these records really");
  const [, printed = ""] = /`crm-sync (run \S+ --accept-shrink hr\/staff=\d+)`/u.exec(ended.stdout) ?? [];
  expect((await w.run("resync", "--source", "hr")).exitCode).toBe(7);
  expect((await w.run(...printed.split(" "))).exitCode).toBe(0);
  const next = await ran(w);
  expect([next.exitCode, shrunk(next), await alerts()]).toEqual([0, [], []]);
  expect((await auditEntries(w)).filter(({ kind }) => kind === "shrink-accepted")).toHaveLength(1);
});

it("does not believe a source that shrank from plan to plan since the last run", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 25) });
  const rows = w.staff.map(staffRow);
  const lists = (count: number): void => writeFileSync(w.path("data/staff.ndjson"), lines(rows.slice(0, count)));
  expect((await ran(w)).exitCode).toBe(0);
  for (const left of [21, 17]) {
    lists(left);
    await w.run("plan");
  }
  const ended = await ran(w);
  expect([ended.exitCode, ended.calls, shrunk(ended)]).toEqual([7, {}, ["staff"]]);
});

it("does not lose unseen what only a plan has read", { tags: "long" }, async () => {
  const w = await world({ records: company(2, 2) });
  w.extra =
    "jobs:\n  people: { kind: sync, streams: [staff] }\n  everything: { kind: sync, streams: [customers, orders, staff] }\n";
  w.write();
  expect((await w.run("plan")).exitCode).toBe(2);
  // This job reads neither customers nor orders, and works on them all the same.
  expect((await w.run("run", "people")).exitCode).toBe(0);
  const { orders, staff } = w;
  w.orders = [];
  w.staff = staff.map((person) => ({ ...person, holds: [] }));
  w.write();
  const ended = await ran(w);
  expect([ended.exitCode, ended.calls, shrunk(ended)]).toEqual([7, {}, ["orders"]]);
  Object.assign(w, { orders, staff });
  w.write();
  expect((await ran(w)).exitCode).toBe(0);
});

it("does not lose unseen what a first read showed that broke off", { tags: "long" }, async () => {
  const w = await world({ records: company(2, 2) });
  const file = w.path("data/staff.ndjson");
  const whole = lines(w.staff.map(staffRow));
  writeFileSync(file, whole.slice(0, -20));
  expect((await ran(w)).exitCode).toBe(7);
  expect(w.sandbox.state().assignments).toBe(3);
  writeFileSync(file, "");
  for (let reading = 0; reading < 4; reading += 1) {
    const ended = await ran(w);
    expect([ended.exitCode, ended.calls, shrunk(ended)]).toEqual([7, {}, ["staff"]]);
  }
  writeFileSync(file, whole);
  expect((await ran(w)).exitCode).toBe(0);
  expect(w.sandbox.state().assignments).toBe(4);
});
