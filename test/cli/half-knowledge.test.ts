import { rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { lines, mappingOf } from "../support/world/crm-files.ts";
import { company, staffRow } from "../support/world/crm.ts";
import type { GivenStaff } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

/** A second source of staff, which the people of the last customer come from. */
const secondSource = `  branch:
    kind: file
    directory: data
    streams:
      staff:
        files: branch.ndjson
        key: id
        mapping: ${JSON.stringify(mappingOf("staff"))}
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  hr-only: { kind: sync, streams: [staff], sources: [hr] }
`;

interface TwoSources {
  w: World;
  branch: GivenStaff[];
  /** Writes every file as the lists are now. */
  write(): void;
}

async function twoSources(customers: number, people: number): Promise<TwoSources> {
  const w = await world({ records: company(customers, people) });
  w.extra = secondSource;
  const last = `C${customers}`;
  const branch = w.staff.filter((person) => person.customer === last);
  w.staff = w.staff.filter((person) => person.customer !== last);
  const made: TwoSources = {
    w,
    branch,
    write() {
      w.write();
      writeFileSync(w.path("data/branch.ndjson"), lines(made.branch.map(staffRow)));
    },
  };
  made.write();
  const first = await w.does("run", "everything");
  expect(first.exitCode, first.stdout + first.stderr).toBe(0);
  return made;
}

it(
  "while one of two sources is down, no job, plan, saved plan or resync takes anything away, whichever job read it",
  { tags: "long" },
  async () => {
    const two = await twoSources(2, 2);
    const [first] = two.w.staff;
    if (first !== undefined) first.holds = [];
    two.write();
    const saved = two.w.path("plan.ndjson");
    const planned = await two.w.does("plan", "--out", saved);
    expect(planned.stdout).toContain("1 operation(s) planned");
    rmSync(two.w.path("data/branch.ndjson"));

    expect(await two.w.does("run", "staff")).toMatchObject({ exitCode: 7, sent: 0 });
    const other = await two.w.does("run", "customers-and-orders");
    expect(other.sent, "a job that does not read the source takes nothing away either").toBe(0);
    expect(other.stdout).toMatch(
      /nothing is taken away: the last read of branch\/staff .*missing.*`crm-sync run staff`/u,
    );
    expect(await two.w.does("resync", "--customer", "C1")).toMatchObject({ sent: 0 });
    expect(await two.w.does("apply", saved)).toMatchObject({ sent: 0 });
    expect((await two.w.does("plan")).stdout).toContain("0 operation(s) planned");
    expect(two.w.sandbox.state().assignments).toBe(4);

    two.write();
    expect(await two.w.does("run", "customers-and-orders")).toMatchObject({ sent: 0 });
    expect(await two.w.does("run", "staff")).toMatchObject({ exitCode: 0, sent: 1 });
    expect(two.w.sandbox.state().assignments).toBe(3);
  },
);

it.each([
  ["shrank", "`crm-sync run staff --accept-shrink branch` believes it once"],
  ["was cut off", "the last read of branch/staff was cut off; `crm-sync run staff` reads it again"],
  ["was never read", "branch/staff was never read; `crm-sync run staff` reads it"],
])(
  "a source that %s blocks every job's revokes until it is read, or is configured no longer",
  { tags: "long" },
  async (how, said) => {
    const two = await twoSources(2, 4);
    const [first] = two.w.staff;
    if (first !== undefined) first.holds = [];
    if (how === "shrank") two.branch.length = 1;
    two.write();
    if (how === "shrank") expect(await two.w.does("run", "everything")).toMatchObject({ exitCode: 7, sent: 0 });
    if (how === "was cut off")
      two.w.tamper(
        "insert into source_read (source, stream, started_at) values ('branch', 'staff', '2026-01-01T00:00:00.000Z')",
      );
    if (how === "was never read") two.w.tamper("delete from source_read where source = 'branch'");

    const blocked = await two.w.does("run", "hr-only");
    expect(blocked.sent).toBe(0);
    expect(blocked.stdout).toContain(said);
    if (how === "shrank") {
      expect(await two.w.does("run", "staff", "--accept-shrink", "branch")).toMatchObject({ exitCode: 0, sent: 1 });
    } else if (how === "was cut off") {
      expect(await two.w.does("run", "staff")).toMatchObject({ exitCode: 0, sent: 1 });
    } else {
      two.w.extra = "jobs:\n  hr-only: { kind: sync, streams: [staff], sources: [hr] }\n";
      two.w.write();
      expect(await two.w.does("run", "hr-only")).toMatchObject({ exitCode: 0, sent: 1 });
    }
  },
);

it("a person whose row cannot be used takes nothing from the one who held the asset, nor where nobody can tell whose person it is", async () => {
  const two = await twoSources(3, 2);
  const [first, second] = two.w.staff;
  const [other] = two.branch;
  if (first === undefined || second === undefined || other === undefined) throw new Error("the world is too small");
  // The asset of the first person moves to somebody whose row lacks a name; at the same time the branch takes one away.
  const moved = { id: "S9", customer: "C1", login: "zqcanarylogin9", holds: first.holds };
  first.holds = [];
  other.holds = [];
  two.write();
  const hr = [...two.w.staff.map(staffRow), moved];
  writeFileSync(two.w.path("data/staff.ndjson"), lines(hr));
  expect(await two.w.does("run", "staff"), "only the branch takes away").toMatchObject({ exitCode: 3, sent: 1 });

  // Nobody can tell whose person this is: nothing is taken away where the source has people, and elsewhere it is.
  const third = two.w.staff.find((person) => person.customer === "C2");
  if (third !== undefined) third.holds = [];
  const [, last] = two.branch;
  if (last !== undefined) last.holds = [];
  two.write();
  writeFileSync(
    two.w.path("data/staff.ndjson"),
    lines([...two.w.staff.map(staffRow), { login: "zqcanarylogin9", holds: moved.holds }]),
  );
  const stray = await two.w.does("run", "staff");
  expect(stray.sent).toBe(1);
  expect(stray.stdout).toContain("whose customer it is cannot be told, so nothing is taken away where hr has people");
  expect(await two.w.does("run", "customers-and-orders")).toMatchObject({ sent: 0 });
  expect((await two.w.does("status")).stdout).toMatch(
    /hr +staff +is not judged .*1 row \(missing\) may be any record that is missing/u,
  );

  two.write();
  expect(await two.w.does("run", "staff")).toMatchObject({ exitCode: 0, sent: 2 });
  expect((await two.w.does("status")).stdout).toMatch(/hr +staff +is judged +0/u);
});

it(
  "what is missing counts as gone after several whole reads of runs, and not before some time has passed; a plan does not count",
  { tags: "long" },
  async () => {
    const two = await twoSources(2, 3);
    two.w.staff.shift();
    two.write();
    for (const command of [["plan"], ["plan"], ["run", "staff"], ["plan"], ["run", "staff"], ["plan"], ["plan"]])
      expect(await two.w.does(...command), command.join(" ")).toMatchObject({ sent: 0 });
    expect((await two.w.does("status")).stdout).toMatch(/hr +staff +is judged +1 /u);
    expect(await two.w.does("run", "staff")).toMatchObject({ exitCode: 0, sent: 1 });

    two.w.environment["CRM_SYNC__limits__absenceTime"] = "24h";
    two.branch.shift();
    two.write();
    for (let read = 1; read <= 4; read += 1)
      expect(await two.w.does("run", "staff"), `read ${read}`).toMatchObject({ exitCode: 0, sent: 0 });
    two.w.tamper("update record set missed_since = '2026-01-01T00:00:00.000Z' where missed > 0");
    expect(await two.w.does("run", "staff")).toMatchObject({ exitCode: 0, sent: 1 });
  },
);
