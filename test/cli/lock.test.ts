import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { assetRow, company } from "../support/world/crm.ts";
import { document, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

/** Two customers whose orders brought two re-issuable locks each. */
async function withLocks(): Promise<{ w: World; locks: Record<string, string[]> }> {
  const { orders, ...records } = company(2, 2);
  const reissuable = orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => ({ ...assetRow(asset), type: "normal_recover_usbkey" as const })),
  }));
  const w = await world({ records: { ...records, orders: reissuable } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const locks: Record<string, string[]> = {};
  const fixed = "select wire_number as number, order_id from asset_number where fixed_at is not null order by 1";
  const owners = new Map(w.orders.map((order) => [order.id, order.customer]));
  for (const row of w.rows<{ number: string; order_id: string }>(fixed)) {
    const owner = owners.get(row.order_id) ?? "";
    locks[owner] = [...(locks[owner] ?? []), row.number];
  }
  return { w, locks };
}

const why = ["--reason", "reported stolen", "--by", "anna.lee"];

function lockedIn(w: World): number {
  return w.sandbox.state().lockedAssets;
}

function said(w: World, kind: string): Record<string, unknown>[] {
  return w
    .rows<{ body: string }>("select body from audit where kind = ? order by sequence", kind)
    .map((row) => JSON.parse(row.body));
}

describe("locks that a person disables and enables", () => {
  it(
    "are previewed, disabled, enabled, and told of in explain, one customer and no other",
    { tags: "long" },
    async () => {
      const { w, locks } = await withLocks();
      const [first = "", second = ""] = locks["C1"] ?? [];
      const preview = await w.run("lock", "C1", "--asset", first, second, ...why, "--dry-run");
      expect([preview.exitCode, preview.stdout]).toEqual([
        0,
        expect.stringContaining("E6 locks:crm/C1: anna.lee asked"),
      ]);
      expect([w.rows("select * from manual_request"), lockedIn(w)]).toEqual([[], 0]);

      const done = await w.run("--json", "lock", "C1", "--asset", first, second, ...why);
      expect([done.exitCode, document(done)]).toMatchObject([
        0,
        {
          customer: "crm/C1",
          open: [],
          requests: [first, second].map((about) => ({ of: "lock", about, wanted: "locked", answer: { status: 1 } })),
        },
      ]);
      expect(lockedIn(w)).toBe(2);
      expect(said(w, "request-made")).toMatchObject([
        {
          by: "anna.lee",
          reason: "reported stolen",
          requests: [first, second].map((about) => ({ about, wanted: "locked" })),
        },
      ]);
      expect(said(w, "lock-assets")).toMatchObject([{ endpoint: "E6", locks: { [first]: 1, [second]: 1 } }]);
      const explained = (await w.run("explain", "customer", "C1")).stdout;
      expect(explained).toContain(`lock ${first} is locked`);
      expect(explained).toContain("asked by anna.lee: reported stolen");
      for (const kind of ["request-made", "lock-assets"])
        expect(explained).toMatch(new RegExp(`${kind} +locks:crm/C1`, "u"));

      const spaced = await w.run("unlock", "C1", "--asset", ` ${first} `, ...why);
      expect(spaced.stdout).toContain(`${first} is unlocked`);
      expect(lockedIn(w)).toBe(1);
      const quiet = await w.writes(() => w.run("run", "everything"));
      expect([quiet.result.exitCode, quiet.calls]).toEqual([0, {}]);
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
    },
  );

  it("are refused where they are not the customer's, not of a type that can be, or not asked for in words", async () => {
    const { w, locks } = await withLocks();
    const [own = ""] = locks["C1"] ?? [];
    const [others = ""] = locks["C2"] ?? [];
    const refusals = [
      [["lock", "C1", "--asset", own, others, ...why], 64, `${others} is the number of no asset`],
      [["lock", "C9", "--asset", own, ...why], 64, "no source has given a customer"],
      [["lock", "C1", "--asset", own], 64, "needs a reason"],
      [["unlock", "C1", "--asset", own, ...why, "--withdraw"], 64, "nothing is asked for"],
    ] as const;
    const { calls } = await w.writes(async () => {
      for (const [words, code, text] of refusals) {
        const ended = await w.run(...words);
        expect([ended.exitCode, ended.stderr], words.join(" ")).toEqual([code, expect.stringContaining(text)]);
      }
    });
    expect([calls, w.rows("select * from manual_request")]).toEqual([{}, []]);
    const production = { CRM_SYNC__assumptions__operatorIdentity: "+49 151 12345678" };
    w.environment = { ...w.environment, ...production };
    expect((await w.run("lock", "C1", "--asset", own, ...why)).exitCode).toBe(78);
  });

  it(
    "keep a status each: what failed is tried by the next run, what is wrong waits for a person",
    { tags: "long" },
    async () => {
      const { w, locks } = await withLocks();
      const [slow = "", fine = ""] = locks["C1"] ?? [];
      const [gone = ""] = locks["C2"] ?? [];
      w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", row: 1, value: 3, times: 2 });
      const partly = await w.run("lock", "C1", "--asset", slow, fine, ...why);
      expect([partly.exitCode, partly.stdout]).toEqual([3, expect.stringContaining(`${slow} is not locked: status 3`)]);
      expect(partly.stdout).toContain(`${fine} is locked`);
      w.sandbox.dropOrders("O2");
      w.sandbox.faults.add({ operation: "E7", fault: "oddField", field: "status", value: 4 });
      const refused = await w.run("unlock", "C2", "--asset", gone, ...why);
      expect([refused.exitCode, refused.stdout]).toEqual([3, expect.stringContaining("status 4")]);
      const status = (await w.run("status")).stdout;
      expect(status).toContain("the next run tries again");
      expect(status).toContain("--withdraw");
      const next = (await w.run("explain", "customer", "C2")).stdout;
      expect(next).toContain("take back this one: the command that asked for it, with --withdraw");
      expect((await w.run("explain", "customer", "C1")).stdout).toContain(
        "nothing: the next run looks at it again by itself",
      );

      const again = await w.writes(() => w.run("run", "everything"));
      expect([again.result.exitCode, again.calls]).toEqual([3, { E6: 1 }]);
      const third = await w.writes(() => w.run("run", "everything"));
      expect([third.result.exitCode, third.calls]).toEqual([3, { E6: 1 }]);
      expect((await w.run("explain", "customer", "C1")).stdout).toContain(`lock ${slow} is locked`);
      expect((await w.run("unlock", "C2", "--asset", gone, ...why, "--withdraw")).exitCode).toBe(0);
      const quiet = await w.writes(() => w.run("run", "everything"));
      expect([quiet.result.exitCode, quiet.calls]).toEqual([0, {}]);
    },
  );

  it(
    "wait for what is open, stay asked for, and are sent again with the same locks where the answer was lost",
    { tags: "long" },
    async () => {
      const { w, locks } = await withLocks();
      const [first = ""] = locks["C1"] ?? [];
      const patient = w.environment;
      w.environment = { ...patient, CRM_SYNC__settle__maxWaitMs: "0", CRM_SYNC__settle__timeMs: "60000" };
      w.sandbox.faults.add({ operation: "E6", fault: "appliedNoReply" });
      const lost = await w.run("lock", "C1", "--asset", first, ...why);
      expect([lost.exitCode, lost.stdout]).toEqual([5, expect.stringContaining("waits for the outcome of E6")]);
      const listed = (await w.run("settle", "list")).stdout;
      expect(listed).toMatch(/nothing: a run sends it again with the same values, not before/u);
      expect(listed).not.toContain("by reading");
      w.sandbox.faults.clear();
      const hasty = await w.run("unlock", "C1", "--asset", first, ...why);
      expect([hasty.exitCode, hasty.stdout]).toEqual([
        3,
        expect.stringContaining("is to be unlocked, not answered yet"),
      ]);
      expect(w.rows("select exit_code from run where job = 'unlock'"), "and is kept so").toEqual([{ exit_code: 3 }]);
      w.environment = patient;
      const opposite = await w.run("unlock", "C1", "--asset", first, ...why);
      expect(opposite.exitCode).toBe(0);
      expect(lockedIn(w)).toBe(0);
      const rows = w.rows(
        "select kind, state from operation where stage = 'requests' and state <> 'dropped' order by created_at, id",
      );
      expect(rows).toEqual([
        { kind: "lock-assets", state: "done" },
        { kind: "unlock-assets", state: "done" },
      ]);
      const counts = w.sandbox.counts().calls;
      expect([counts["E6"], counts["E7"]]).toEqual([2, 1]);
    },
  );

  it(
    "stay asked for while another run is on: a plan shows them, and the next run carries them out",
    { tags: "long" },
    async () => {
      const { w, locks } = await withLocks();
      const [first = ""] = locks["C2"] ?? [];
      const other = new Database(w.path("ledger.db.lock"));
      other.exec("begin exclusive");
      const { result: asked, calls } = await w.writes(() => w.run("lock", "C2", "--asset", first, ...why));
      other.close();
      expect([asked.exitCode, asked.stderr, calls]).toEqual([
        75,
        expect.stringContaining("asked for and not sent yet"),
        {},
      ]);
      expect((await w.run("status")).stdout).toContain("1 lock asked for and not done");
      const plan = await w.run("plan");
      expect([plan.exitCode, plan.stdout]).toEqual([2, expect.stringContaining("E6 locks:crm/C2: anna.lee asked")]);
      const elsewhere = await w.run("resync", "--customer", "C1");
      expect([elsewhere.exitCode, elsewhere.stdout]).toEqual([3, expect.stringContaining("(request.open)")]);
      const run = await w.writes(() => w.run("run", "everything"));
      expect([run.result.exitCode, run.calls, lockedIn(w)]).toEqual([0, { E6: 1 }, 1]);
      expect((await w.run("status")).stdout).not.toContain("request.");
    },
  );

  it("of one customer are told of also where another customer waits for something else", { tags: "long" }, async () => {
    const { w, locks } = await withLocks();
    w.customers = w.customers.map((one) => (one.id === "C1" ? { ...one, name: "Refused Ltd" } : one));
    w.write();
    w.sandbox.faults.add({ operation: "E4", fault: "status299", code: "13004" });
    expect((await w.run("run", "everything")).exitCode).toBe(3);
    const other = new Database(w.path("ledger.db.lock"));
    other.exec("begin exclusive");
    expect((await w.run("lock", "C2", "--asset", locks["C2"]?.[0] ?? "", ...why)).exitCode).toBe(75);
    other.close();
    const { exitCode, stdout } = await w.run("resync", "--customer", "C1");
    expect([exitCode, stdout]).toEqual([3, expect.stringContaining("crm/C2; the oldest")]);
    expect(stdout).toContain("1 customer is rejected (rejected.13004)");
  });

  it(
    "are told of as long as one is refused: taking back another, or a lock that is done, ends no rejection",
    { tags: "long" },
    async () => {
      const { w, locks } = await withLocks();
      const [one = "", other = ""] = locks["C1"] ?? [];
      w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 4, times: 1 });
      expect((await w.run("lock", "C1", "--asset", one, other, ...why)).exitCode).toBe(3);
      expect((await w.run("lock", "C1", "--asset", one, ...why, "--withdraw")).exitCode).toBe(0);
      const run = await w.writes(() => w.run("run", "everything"));
      expect([run.result.exitCode, run.calls]).toEqual([3, {}]);
      expect((await w.run("status")).stdout).toContain(`the lock ${other} is not locked`);
      expect((await w.run("lock", "C1", "--asset", other, ...why, "--withdraw")).exitCode).toBe(0);
      expect((await w.run("status")).stdout).toContain("nothing waits for a person");

      w.sandbox.faults.add({ operation: "E6", fault: "status299", code: "13004", times: 2 });
      for (const end of [["--withdraw"], []]) {
        expect((await w.run("lock", "C1", "--asset", one, ...why)).exitCode).toBe(3);
        expect((await w.run("status")).stdout).not.toContain("nothing: the next run sends it");
        const ended = await w.run("lock", "C1", "--asset", one, ...why, ...end);
        expect(ended.exitCode).toBe(0);
        const quiet = await w.writes(() => w.run("run", "everything"));
        expect([quiet.result.exitCode, quiet.calls], quiet.result.stdout).toEqual([0, {}]);
      }
    },
  );

  it("hide no rejection of their customer's own change, whatever becomes of them", { tags: "long" }, async () => {
    const { w, locks } = await withLocks();
    const [one = "", other = ""] = locks["C1"] ?? [];
    w.sandbox.faults.add({ operation: "E4", fault: "status299", code: "13004", times: 1 });
    const [first] = w.customers;
    if (first !== undefined) first.branch = "Moved";
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(3);
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 4, times: 1 });
    expect((await w.run("lock", "C1", "--asset", one, ...why)).exitCode).toBe(3);
    expect((await w.run("status")).stdout).toContain("E4 was rejected");
    expect((await w.run("lock", "C1", "--asset", one, ...why, "--withdraw")).exitCode).toBe(0);
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 3, times: 3 });
    expect((await w.run("lock", "C1", "--asset", other, ...why)).exitCode).toBe(3);
    for (const calls of [{ E6: 1 }, { E6: 1 }, { E6: 1 }, {}]) {
      const run = await w.writes(() => w.run("run", "everything"));
      expect([run.result.exitCode, run.calls]).toEqual([3, calls]);
      expect((await w.run("status")).stdout).toContain("E4 was rejected");
    }
    expect((await w.run("explain", "customer", "C1")).stdout).toContain(`lock ${other} is locked`);
  });
});
