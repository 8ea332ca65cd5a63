import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { company, staffRow } from "../support/world/crm.ts";
import { document, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

async function synchronised(customers: number, people: number): Promise<World> {
  const w = await world({ records: company(customers, people) });
  const first = await w.run("run", "everything");
  expect(first.exitCode, first.stdout + first.stderr).toBe(0);
  expect(w.sandbox.state().assignments).toBe(customers * people);
  return w;
}

/** The CRM takes all assets from the first `count` people of the list. */
function takeAway(w: World, count: number): void {
  for (const person of w.staff.slice(0, count)) person.holds = [];
  w.write();
}

function holdIn(text: string): string {
  return /held: (\S+) for/u.exec(text)?.[1] ?? "";
}

describe("more than a limit allows", () => {
  it("is carried out up to the limit, held beyond it, and a person sees the sum", { tags: "long" }, async () => {
    const w = await synchronised(1, 8);
    takeAway(w, 5);
    const allowed = await w.writes(() => w.run("run", "staff"));
    expect(allowed.result.exitCode, allowed.result.stdout).toBe(0);
    expect(allowed.calls).toEqual({ M9: 5 });

    const other = await synchronised(1, 8);
    takeAway(other, 6);
    const { result, calls } = await other.writes(() => other.run("run", "staff"));
    expect(result.exitCode).toBe(4);
    expect(calls).toEqual({});
    const sum = "6 of 8 (75.0 %) seats of this enterprise would be taken away; 5 are allowed";
    expect(result.stdout).toContain(sum);
    expect(result.stdout).toMatch(/exit 4: .*approve/u);
    const status = await other.run("status");
    expect(status.stdout).toContain(sum);
    expect(status.stdout).toContain(holdIn(result.stdout));
    expect(status.stdout).toContain("crm-sync approve");
    const still = await other.writes(() => other.run("run", "staff"));
    expect(still.result.exitCode, "a held run stays one").toBe(4);
    expect(still.calls).toEqual({});
    expect((await other.run("explain", "staff", "S1-1")).stdout).toContain("held");
  });

  it("is carried out by the next run once a person approves it: exactly this set", { tags: "long" }, async () => {
    const w = await synchronised(1, 8);
    takeAway(w, 6);
    const hold = holdIn((await w.run("run", "staff")).stdout);
    const approved = await w.run("approve", hold, "--reason", "the customer asked for it");
    expect(approved.exitCode, approved.stderr).toBe(0);
    expect(approved.stdout).toContain("the next run carries out exactly this set");
    const { result, calls } = await w.writes(() => w.run("run", "staff"));
    expect(result.exitCode, result.stdout).toBe(0);
    expect(calls).toEqual({ M9: 6 });
    expect(w.sandbox.state().assignments).toBe(2);
    expect((await w.run("status")).stdout).not.toContain(hold);
    const twice = await w.run("approve", hold, "--reason", "again");
    expect(twice.exitCode).toBe(64);
  });

  it("is held anew when the set has grown after the approval", { tags: "long" }, async () => {
    const w = await synchronised(1, 8);
    takeAway(w, 6);
    const hold = holdIn((await w.run("run", "staff")).stdout);
    await w.run("approve", hold, "--reason", "the customer asked for it");
    takeAway(w, 7);
    const { result, calls } = await w.writes(() => w.run("run", "staff"));
    expect(result.exitCode).toBe(4);
    expect(calls).toEqual({});
    expect(result.stdout).toContain("7 of 8 (87.5 %)");
    expect(holdIn(result.stdout)).not.toBe(hold);
  });

  it("is never carried out once a person rejects it, and what else changed still is", { tags: "long" }, async () => {
    const w = await synchronised(1, 8);
    takeAway(w, 6);
    const hold = holdIn((await w.run("run", "staff")).stdout);
    const rejected = await w.run("reject", hold, "--reason", "a mistake in the CRM");
    expect(rejected.exitCode, rejected.stderr).toBe(0);
    w.orders.push({ id: "O2", customer: "C1", assets: ["O2-A1"] });
    w.staff.at(-1)?.holds?.push("O2-A1");
    w.write();
    const { result, calls } = await w.writes(() => w.run("run", "everything"));
    expect(calls).toEqual({ E5: 1, M9: 1 });
    expect(result.exitCode, result.stdout).toBe(0);
    expect(w.sandbox.state().assignments).toBe(9);
    const again = await w.writes(() => w.run("run", "everything"));
    expect(again.calls).toEqual({});
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("a person rejected");
  });

  it(
    "is not carried out where a person rejects what was approved before a run came to it",
    { tags: "long" },
    async () => {
      const w = await synchronised(2, 8);
      takeAway(w, 6);
      const hold = holdIn((await w.run("run", "staff")).stdout);
      expect((await w.run("approve", hold, "--reason", "the customer asked for it")).exitCode).toBe(0);
      const rejected = await w.run("reject", hold, "--reason", "it was the other customer");
      expect(rejected.exitCode, rejected.stderr).toBe(0);
      expect(w.rows("select 1 from approved_operation"), "it counts for nothing").toEqual([]);
      for (const _ of [1, 2]) expect((await w.does("run", "staff")).calls).toEqual({});
      expect(w.sandbox.state().assignments).toBe(16);
      expect((await w.run("approve", hold, "--reason", "again")).exitCode).toBe(64);
      expect((await w.run("reject", hold, "--withdraw", "--reason", "it was this one")).exitCode).toBe(0);
      const asked = await w.does("run", "staff");
      expect([asked.exitCode, asked.calls], asked.stdout).toEqual([4, {}]);
      expect((await w.run("approve", holdIn(asked.stdout), "--reason", "this one")).exitCode).toBe(0);
      expect((await w.does("run", "staff")).calls).toEqual({ M9: 6 });
    },
  );

  it("needs a reason, and a hold that is there", async () => {
    const w = await synchronised(1, 8);
    takeAway(w, 6);
    const hold = holdIn((await w.run("run", "staff")).stdout);
    const noReason = await w.run("approve", hold);
    expect(noReason.exitCode).toBe(64);
    expect(noReason.stderr).toContain("--reason");
    const unknown = await w.run("--json", "approve", "h-nowhere", "--reason", "x");
    expect(unknown.exitCode).toBe(64);
    expect(document(unknown).error.message).toContain("h-nowhere");
    expect((await w.run("run", "staff")).exitCode, "nothing was decided").toBe(4);
  });

  it("is judged over the whole run too: many small revokes are held together", { tags: "long" }, async () => {
    const w = await synchronised(5, 5);
    takeAway(w, 25);
    const { result, calls } = await w.writes(() => w.run("run", "staff"));
    expect(result.exitCode).toBe(4);
    expect(calls).toEqual({});
    expect(result.stdout).toContain("25 of 25 (100.0 %) seats of the whole run would be taken away; 20 are allowed");
    expect(result.stdout.match(/^held: /gmu)).toHaveLength(5);
  });
});

describe("a source that cannot be believed", () => {
  // Of fewer than 20 rows, the rows that are lost count and not their share.
  const losses: [string, number, (w: World) => string][] = [
    ["lost a fifth of its 20 rows", 4, (w) => lines(w, 16)],
    ["lost three of its five rows", 1, (w) => lines(w, 2)],
    ["is empty", 1, () => ""],
    ["was half-written", 1, (w) => lines(w, 5).slice(0, -60)],
    ["holds something else", 1, () => "<html>502 Bad Gateway</html>\n"],
  ];

  it.each(losses)(
    "takes nothing away when it %s, however often it is read",
    { tags: "long" },
    async (_what, customers, content) => {
      const w = await synchronised(customers, 5);
      writeFileSync(w.path("data/staff.ndjson"), content(w));
      for (const job of ["staff", "everything", "staff"]) {
        const { result, calls } = await w.writes(() => w.run("run", job));
        expect(calls).toEqual({});
        expect(result.exitCode, result.stdout).toBe(7);
        expect(result.stdout).toContain("source hr/staff");
      }
      w.write();
      const mended = await w.writes(() => w.run("run", "staff"));
      expect(mended.result.exitCode, mended.result.stdout).toBe(0);
      expect(mended.calls).toEqual({});
      expect(w.sandbox.state().assignments).toBe(customers * 5);
    },
  );

  it("is believed about one person who is gone, once three complete reads agree", { tags: "long" }, async () => {
    const w = await synchronised(1, 6);
    w.staff.shift();
    w.write();
    for (let read = 1; read <= 2; read += 1) {
      const { calls } = await w.writes(() => w.run("run", "staff"));
      expect(calls, `read ${read}`).toEqual({});
    }
    const third = await w.writes(() => w.run("run", "staff"));
    expect(third.calls).toEqual({ M9: 1 });
    expect(w.sandbox.state().assignments).toBe(5);
  });

  it(
    "blocks the revokes of a customer that has a record in quarantine, and of no other customer",
    { tags: "long" },
    async () => {
      const w = await synchronised(2, 3);
      const [bad, , , ofOther] = w.staff;
      w.staff[1] = { ...w.staff[1], holds: [] } as World["staff"][number];
      if (ofOther !== undefined) ofOther.holds = [];
      w.write();
      const records = w.staff.map((person) =>
        person === bad ? { ...staffRow(person), name: "x".repeat(31) } : staffRow(person),
      );
      writeFileSync(w.path("data/staff.ndjson"), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
      const { result, calls } = await w.writes(() => w.run("run", "staff"));
      expect(result.exitCode, result.stdout).toBe(3);
      expect(calls).toEqual({ M9: 1 });
      expect((await w.run("explain", "staff", "S1-2")).stdout).toContain(
        "wait in quarantine, so nothing is taken away",
      );
      const list = await w.run("quarantine", "list");
      expect(list.stdout).toContain("staff.ndjson:1");
      w.write();
      const mended = await w.writes(() => w.run("run", "staff"));
      expect(mended.result.exitCode, mended.result.stdout).toBe(0);
      expect(mended.calls).toEqual({ M9: 1 });
      expect(w.sandbox.state().assignments).toBe(4);
    },
  );
});

/** The first `count` lines of the staff file. */
function lines(w: World, count: number): string {
  return w.staff
    .slice(0, count)
    .map((person) => `${JSON.stringify(staffRow(person))}\n`)
    .join("");
}
