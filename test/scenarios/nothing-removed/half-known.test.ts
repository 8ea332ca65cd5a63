import { rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import { asKilledNow } from "../../support/killed-copy.ts";
import { crmSync } from "../../support/program.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { lines, mappingOf } from "../../support/world/crm-files.ts";
import { company, staffRow, type GivenStaff } from "../../support/world/crm.ts";

/** @module-tag long */

/** A second source of staff, which the people of the last customer come from. */
const secondSource = `  branch:
    kind: file
    directory: data
    streams:
      staff:
        files: branch.ndjson
        key: id
        mapping: ${JSON.stringify(mappingOf("staff"))}
`;
const jobs = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  hr-only: { kind: sync, streams: [staff], sources: [hr] }
`;

interface TwoSources {
  w: World;
  branch: GivenStaff[];
  /** Writes every file as the lists are now. */
  write(): void;
  /** The exit code of a command, and how many M9 it sent. */
  does(...words: string[]): Promise<[exitCode: number | null, sent: number]>;
}

/** Customers of whom the people of the last one come from the second source. Nothing was read of them yet. */
async function twoSources(customers: number, people: number): Promise<TwoSources> {
  const w = await world({ records: company(customers, people) });
  w.extra = secondSource + jobs;
  const ofLast = ({ customer }: GivenStaff): boolean => customer === `C${customers}`;
  const made: TwoSources = {
    w,
    branch: w.staff.filter(ofLast),
    write() {
      w.write();
      writeFileSync(w.path("data/branch.ndjson"), lines(made.branch.map(staffRow)));
    },
    async does(...words) {
      const { exitCode, sent } = await w.does(...words);
      return [exitCode, sent];
    },
  };
  w.staff = w.staff.filter((person) => !ofLast(person));
  made.write();
  return made;
}

/** The CRM takes everything from the person at this place of a list. */
const empty = (people: GivenStaff[], at: number): void => {
  const person = people[at];
  if (person !== undefined) people[at] = { ...person, holds: [] };
};

it("while one of two sources is down, no job, plan, saved plan or resync removes anything", async () => {
  const two = await twoSources(2, 2);
  const { w } = two;
  expect(await two.does("run", "everything")).toEqual([0, 4]);
  empty(w.staff, 0);
  two.write();
  const saved = w.path("plan.ndjson");
  expect((await w.run("plan", "--out", saved)).exitCode).toBe(2);
  rmSync(w.path("data/branch.ndjson"));

  expect(await two.does("run", "staff")).toEqual([7, 0]);
  for (const words of [
    ["run", "customers-and-orders"],
    ["resync", "--customer", "C1"],
    ["apply", saved],
  ])
    expect((await two.does(...words))[1], words.join(" ")).toBe(0);
  expect((await w.run("plan")).exitCode, "a source is down").toBe(7);
  expect(w.sandbox.state().assignments).toBe(4);

  two.write();
  expect((await two.does("run", "customers-and-orders"))[1], "it does not read the source").toBe(0);
  expect(await two.does("run", "staff")).toEqual([0, 1]);
});

it("a source that shrank stops the removals of every job until a person believes it", async () => {
  const two = await twoSources(2, 4);
  expect(await two.does("run", "everything")).toEqual([0, 8]);
  empty(two.w.staff, 0);
  two.branch.length = 1;
  two.write();
  expect(await two.does("run", "everything")).toEqual([7, 0]);
  expect((await two.does("run", "hr-only"))[1]).toBe(0);
  expect(await two.does("run", "staff", "--accept-shrink", "branch/staff=1000")).toEqual([0, 1]);
});

it("a source whose read was killed stops the removals of every job until it is read again", async () => {
  const { customers, orders, staff } = company(2, 2);
  const w = await world({ records: { customers, orders, staff: staff.slice(0, 2) } });
  const isAsked = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  let isHeld = false;
  const service = await startService(async () => {
    if (isHeld) {
      isAsked.resolve();
      await goesOn.promise;
    }
    return { body: staff.slice(2).map(staffRow) };
  });
  const streams = `{ staff: { url: staff, key: id, mapping: ${JSON.stringify(mappingOf("staff"))} } }`;
  w.extra = `  branch: { kind: http, baseUrl: "${service.origin}", streams: ${streams} }\n${jobs}`;
  w.write();
  expect((await w.does("run", "everything")).sent).toBe(4);
  w.staff = w.staff.map((person, index) => (index === 0 ? { ...person, holds: [] } : person));
  w.write();
  isHeld = true;
  const stop = new AbortController();
  const killed = crmSync({ ...w.place, clock: w.clock, signal: stop.signal }, "run", "everything");
  await isAsked.promise;
  asKilledNow(w);
  stop.abort();
  goesOn.resolve();
  await killed;
  expect((await w.does("run", "hr-only")).sent).toBe(0);
  expect(await w.does("run", "staff")).toMatchObject({ exitCode: 0, sent: 1 });
});

it("a source that was never read stops the removals of every job until it is no longer configured", async () => {
  const two = await twoSources(2, 2);
  await two.does("run", "customers-and-orders");
  expect((await two.does("run", "hr-only"))[1]).toBe(2);
  empty(two.w.staff, 0);
  two.write();
  expect((await two.does("run", "hr-only"))[1]).toBe(0);
  two.w.extra = jobs;
  two.w.write();
  expect(await two.does("run", "hr-only")).toEqual([0, 1]);
});

it("a person whose row cannot be used takes nothing from whoever held the asset, and one of nobody knows which customer takes nothing from anybody of the source", async () => {
  const two = await twoSources(3, 2);
  const { w } = two;
  await two.does("run", "everything");
  // The asset of the first person moves to somebody whose row lacks a name; the branch removes one as well.
  const moved = { id: "S9", customer: "C1", login: "zqcanarylogin9", holds: w.staff[0]?.holds ?? [] };
  empty(w.staff, 0);
  empty(two.branch, 0);
  two.write();
  writeFileSync(w.path("data/staff.ndjson"), lines([...w.staff.map(staffRow), moved]));
  expect(await two.does("run", "staff"), "only the branch removes").toEqual([3, 1]);

  empty(w.staff, 2);
  empty(two.branch, 1);
  two.write();
  const nobodys = { login: "zqcanarylogin9", holds: moved.holds };
  writeFileSync(w.path("data/staff.ndjson"), lines([...w.staff.map(staffRow), nobodys]));
  expect((await two.does("run", "staff"))[1], "only the branch removes").toBe(1);
  const judged = async (): Promise<Parsed> =>
    (await w.ask("status")).absence.find(({ source }: Parsed) => source === "hr").judged;
  expect(await judged()).toBe(false);

  two.write();
  expect(await two.does("run", "staff")).toEqual([0, 2]);
  expect(await judged()).toBe(true);
});

it("a person who is missing loses nothing before enough runs and enough time, and a plan does not count", async () => {
  const two = await twoSources(2, 3);
  const { w } = two;
  await two.does("run", "everything");
  w.staff.shift();
  two.write();
  for (const words of [["plan"], ["plan"], ["run", "staff"], ["plan"], ["run", "staff"], ["plan"], ["plan"]])
    expect((await two.does(...words))[1], words.join(" ")).toBe(0);
  expect(await two.does("run", "staff")).toEqual([0, 1]);

  w.environment["CRM_SYNC__limits__absenceTime"] = "24h";
  two.branch.shift();
  two.write();
  for (const _ of [1, 2, 3, 4]) expect(await two.does("run", "staff")).toEqual([0, 0]);
  w.later(24);
  expect(await two.does("run", "staff")).toEqual([0, 1]);
});
