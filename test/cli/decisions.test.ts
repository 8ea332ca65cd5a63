import { userInfo } from "node:os";
import { appendFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

/** Customers whose orders were sent and never answered, in two runs: each waits for a person. */
async function inDoubt(): Promise<{ w: World; ids: Map<string, string>; first: string }> {
  const all = company(6, 1);
  const w = await world({ records: { ...all, staff: [], orders: all.orders.slice(0, 3) } });
  w.extra = "orders: { unseen: ask }\n";
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  w.orders.push(...all.orders.slice(3));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  w.sandbox.faults.clear();
  const rows = w.rows<{ id: string; subject: string; run: string }>(
    "select id, subject, run_id as run from operation where state = 'parked' order by created_at, id",
  );
  expect(rows).toHaveLength(6);
  const ids = new Map(rows.map((row) => [row.subject.replace("order:crm/", ""), row.id]));
  return { w, ids, first: rows[0]?.run ?? "" };
}

/** Audit entries of a kind, as who said what. */
function said(w: World, kind: string): { by: unknown; reason?: unknown }[] {
  return w
    .rows<{ body: string }>("select body from audit where kind = ? order by sequence", kind)
    .map((row) => JSON.parse(row.body));
}

describe("many operations that wait for a person", () => {
  it(
    "are told in plain words, and are settled by ids, by run and by a file of decisions, each line for itself and with who decided",
    { tags: "long" },
    async () => {
      const { w, ids, first } = await inDoubt();
      const [a, b, c, d, e, f] = ["O1", "O2", "O3", "O4", "O5", "O6"].map((order) => ids.get(order) ?? "");

      const list = (await w.run("settle", "list")).stdout;
      const [number] = w.rows<{ number: string }>("select number from asset_number where order_id = 'O1'");
      expect(list).toContain("channel order number O1");
      expect(list).toContain(number?.number);
      expect(list).toMatch(/where .*back office of the order service.*M7/u);
      expect(list).toMatch(/ask .*service desk of the order service/u);
      const listed: { id: string; lookFor: { what: string } }[] = JSON.parse(
        (await w.run("--json", "settle", "list")).stdout,
      );
      expect(listed.find(({ id }) => id === a)?.lookFor.what).toContain("number O1,");

      const two = await w.run(
        "settle",
        a ?? "",
        b ?? "",
        "--not-applied",
        "--reason",
        "none there",
        "--by",
        "anna.lee",
      );
      expect(two.exitCode, two.stderr).toBe(0);
      expect(two.stdout).toContain("2 of 2");
      const strange = await w.run("settle", c ?? "", "--not-applied", "--reason", "x", "--by", "an\u0007na");
      expect([strange.exitCode, strange.stderr]).toEqual([64, expect.stringContaining("printable")]);
      for (const words of [
        ["--reason", "asked bjork@example.com"],
        ["--reason", "x", "--by", "bjork@example.com"],
      ]) {
        const personal = await w.run("settle", c ?? "", "--not-applied", ...words);
        expect([personal.exitCode, personal.stderr]).toEqual([64, expect.stringContaining("an e-mail address")]);
        expect(personal.stderr).not.toContain("example.com");
      }

      const ofRun = await w.run("--json", "settle", "--all-of", first, "--applied", "--reason", "seen there");
      expect(JSON.parse(ofRun.stdout)).toMatchObject({ operation: c, state: "done" });

      const lines = [
        "id,decision,reason",
        `${d},not-applied,"not there, says the desk"`,
        `${e},perhaps,x`,
        `op_none,applied,x`,
        `${d},applied,"the desk, 13800138000"`,
      ];
      writeFileSync(
        w.path("decided.csv"),
        `${[...lines, "", `${f},applied,`, `${e},applied,desk 4711,more`].join("\n")}\n`,
      );
      const decided = ["--decisions", w.path("decided.csv"), "--reason", "asked the desk", "--by", "Björk Ødegård"];
      const file = await w.run("settle", ...decided);
      expect(file.exitCode).toBe(64);
      expect(file.stdout).toContain("2 of 6");
      expect(file.stderr).toMatch(/decided\.csv:3: .*neither applied nor not-applied/u);
      expect(file.stderr).toMatch(/decided\.csv:4: .*op_none/u);
      expect(file.stderr).toMatch(/decided\.csv:5: the reason holds what looks like a phone number/u);
      expect(file.stderr).toMatch(/decided\.csv:8: .*more than three fields/u);
      expect(w.rows("select state from operation where id in (?, ?, ?)", d, e, f)).toEqual(
        expect.arrayContaining([{ state: "dropped" }, { state: "parked" }, { state: "done" }]),
      );

      expect(said(w, "not-applied").map((entry) => [entry.by, entry.reason])).toEqual([
        ["anna.lee", "none there"],
        ["anna.lee", "none there"],
        ["Björk Ødegård", "not there, says the desk"],
      ]);
      expect(said(w, "place-order").map((entry) => [entry.by, entry.reason])).toEqual([
        [userInfo().username, "seen there"],
        ["Björk Ødegård", "asked the desk"],
      ]);

      writeFileSync(w.path("broken.csv"), `id,decision,reason\n${e},applied,"open\n`);
      const broken = await w.run("settle", "--decisions", w.path("broken.csv"));
      expect([broken.exitCode, broken.stderr]).toEqual([64, expect.stringMatching(/broken\.csv:\d+: .*no CSV/u)]);
      const folder = await w.run("settle", "--decisions", w.folder);
      expect([folder.exitCode, folder.stderr]).toEqual([
        64,
        expect.stringContaining(`${w.folder}: the file cannot be read`),
      ]);
      const verdict = ["--applied", "--reason", "x"];
      expect((await w.run("settle", "--all-of", "run_none", ...verdict)).exitCode).toBe(64);
      expect((await w.run("settle", e ?? "", ...verdict, "--decisions", w.path("decided.csv"))).exitCode).toBe(64);
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
    },
  );
});

/** Eight customers with two people each, of whom this many lose what they hold, by these settings. */
async function losing(settings: string, people: readonly string[]): Promise<World> {
  const w = await world({ records: company(8, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.extra = settings;
  for (const person of w.staff) if (people.includes(person.id)) person.holds = [];
  w.write();
  return w;
}

interface Held {
  id: string;
  hold: string;
  subject: string;
  run: string;
}

const heldIn = (w: World): Held[] =>
  w.rows(
    "select id, hold_id as hold, subject, run_id as run from operation where state = 'held' order by customer_id, subject",
  );

describe("of what is held", () => {
  it(
    "one operation is approved by itself, and the next run carries out exactly that one, once",
    { tags: "long" },
    async () => {
      const w = await losing("policies: { seats: { revoked: hold } }\n", ["S1-1", "S1-2", "S2-1"]);
      expect((await w.does("run", "everything")).calls).toEqual({});
      const held = heldIn(w);
      expect(held).toHaveLength(3);
      const [one, other] = held;
      const answer = await w.run("approve", one?.id ?? "", "--reason", "asked the customer", "--by", "anna.lee");
      expect([answer.exitCode, answer.stdout.trim()]).toEqual([
        0,
        `operation ${one?.id} of crm/C1 is approved; the next run carries out exactly this one`,
      ]);
      const next = await w.does("run", "everything");
      expect([next.exitCode, next.calls]).toEqual([4, { M9: 1 }]);
      expect(heldIn(w).map(({ subject }) => subject)).toEqual(held.slice(1).map(({ subject }) => subject));
      expect(said(w, "operation-approved")).toEqual([expect.objectContaining({ by: "anna.lee", operation: one?.id })]);

      // The same comes up again: nobody was asked for that.
      const person = w.staff.find(({ id }) => one?.subject.includes(id));
      if (person === undefined) throw new Error("nobody lost a seat");
      for (const holds of [["O1-A1"], []]) {
        person.holds = holds;
        w.write();
        if (holds.length > 0) expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
      }
      expect((await w.does("run", "everything")).calls).toEqual({});
      expect(heldIn(w)).toHaveLength(3);

      // What is not held any more, and what never was.
      for (const [id, words] of [
        [one?.id ?? "", `${one?.id} is dropped, and not held any more, so nothing was approved`],
        [other?.id ?? "", `${other?.id} is dropped, and not held any more`],
        ["op_none", "there is no operation op_none"],
      ] as const) {
        const refused = await w.run("approve", id, "--reason", "x");
        expect([refused.exitCode, refused.stderr]).toEqual([64, expect.stringContaining(words)]);
      }
      expect((await w.run("approve", "--reason", "x")).exitCode).toBe(64);
      expect((await w.run("approve", one?.hold ?? "", "--run", "run_1", "--reason", "x")).exitCode).toBe(64);
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
    },
  );

  it(
    "everything that a run held because of its own sum is approved at once, and what a policy holds is not",
    { tags: "long" },
    async () => {
      const w = await losing("limits: { taking: { run: { floor: 1, share: 0 } } }\n", ["S1-1", "S2-1", "S3-1"]);
      const limited = await w.does("run", "everything");
      expect([limited.exitCode, limited.calls]).toEqual([4, {}]);
      const [first] = heldIn(w);
      const wrong = await w.run("approve", "--run", "run_none", "--reason", "x");
      expect([wrong.exitCode, wrong.stderr]).toEqual([64, expect.stringContaining("because of the sums of run_none")]);
      const approved = await w.run("approve", "--run", first?.run ?? "", "--reason", "a branch was closed");
      expect([approved.exitCode, approved.stdout.trim()]).toEqual([
        0,
        `3 operations of 3 customers that ${first?.run} held are approved; the next run carries out exactly these`,
      ]);
      const done = await w.does("run", "everything");
      expect([done.exitCode, done.calls], done.stdout).toEqual([0, { M9: 3 }]);
      expect((await w.run("approve", "--run", first?.run ?? "", "--reason", "x")).exitCode).toBe(64);
    },
  );
});

describe("every decision", () => {
  it("says in the audit record who took it: what a limit holds, a retry, a shrunken source, a password", async () => {
    const w = await world({ records: company(1, 8) });
    const by = "anna.lee";
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const person of w.staff.slice(0, 6)) person.holds = [];
    w.write();
    appendFileSync(w.path("data/customers.ndjson"), `{"id":"C9"}\n`);
    expect((await w.run("run", "everything")).exitCode).toBe(4);
    const [hold] = w.rows<{ id: string }>("select id from hold");
    await w.run("approve", hold?.id ?? "", "--reason", "the customer asked", "--by", by);
    await w.run("quarantine", "retry", "all", "--by", by);
    await w.run("staff", "password", "S1-1", "--by", by);
    expect(await w.run("run", "staff", "--accept-shrink", "hr", "--by", by)).toMatchObject({ exitCode: 0 });
    for (const kind of ["hold-approved", "quarantine-retry", "password-handed-out", "shrink-accepted"])
      expect(said(w, kind), kind).toEqual([expect.objectContaining({ by })]);
    expect(w.rows("select decided_by as by from hold")).toEqual([{ by }]);
  });
});
