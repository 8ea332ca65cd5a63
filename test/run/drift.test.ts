import { expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { document, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

type Row = { customer_id: string; level: string; class: string; subject: string; detail: string };

/** What stands otherwise than it was left. */
const differs = (w: World): Row[] =>
  w.rows<Row>(
    "select customer_id, level, class, subject, detail from difference where ended_at is null order by customer_id, level",
  );

/** Two customers with two people who hold an asset each, all of it read back. */
async function synchronised(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  expect(differs(w)).toEqual([]);
  return w;
}

function numberOf(w: World, instance: string): string {
  const sql = "select wire_number as number from asset_number where instance_id = ?";
  return w.rows<{ number: string }>(sql, instance)[0]?.number ?? "";
}

it(
  "what was taken from one person and waits for another is in transit, and ends once it is given",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const [one, two] = [w.staff[0], w.staff[1]];
    if (one === undefined || two === undefined) throw new Error("there are two people");
    w.staff = [{ ...one, holds: [] }, { ...two, holds: ["O1-A1", "O1-A2"] }, ...w.staff.slice(2)];
    w.write();
    w.sandbox.faults.add({ operation: "M9", fault: "status299", code: "60025", nth: 2 });
    expect((await w.run("run", "everything")).exitCode, "the grant is refused").toBe(3);
    await w.run("run", "verify");
    expect(differs(w)).toMatchObject([
      { customer_id: "C1", level: "assignment", class: "in-transit", detail: expect.stringContaining("taken from") },
    ]);
    expect((await w.run("resync", "--customer", "C1")).exitCode).toBe(0);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    expect(differs(w)).toEqual([]);
  },
);

it("M5 and M6 that name two holders of an asset are told of, and nothing is done on it", { tags: "long" }, async () => {
  const w = await synchronised();
  const number = numberOf(w, "O1-A1");
  const [other] = w.rows<{ id: string }>("select member_global_id as id from staff_link where staff_id = 'S1-2'");
  const [link] = w.rows<{ id: string }>("select enterprise_global_id as id from link where customer_id = 'C1'");
  const odd = { fault: "oddField", field: "cloudAccountGlobalId", row: 1, value: other?.id } as const;
  w.sandbox.faults.add({ operation: "M6", about: link?.id ?? "", ...odd });
  const { result: ended, calls } = await w.writes(() => w.run("run", "verify"));
  expect([ended.exitCode, calls]).toEqual([3, {}]);
  expect(differs(w).filter(({ subject }) => subject.startsWith("by M5"))).toMatchObject([
    { customer_id: "C1", class: "different", subject: `by M5 under asset number ${number}` },
  ]);
});

it("what was placed after a reading is not missing by it", { tags: "long" }, async () => {
  const w = await synchronised();
  w.orders = [...w.orders, { id: "O9", customer: "C2", assets: ["O9-A1"] }];
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  // After a verify that came to no end every reading is compared, also that of C2, which is older than its order.
  w.tamper("update run set state = 'interrupted' where kind = 'verify'");
  const ended = await w.run("run", "verify", "--calls", "1");
  expect([ended.exitCode, differs(w)], ended.stdout).toEqual([0, []]);
});

it("a class that the policies ignore is not kept, and no repair is earned by approvals", async () => {
  const w = await synchronised();
  w.sandbox.dropOrders("O2");
  w.environment = { ...w.environment, CRM_SYNC__policies__drift__missing: "ignore" };
  const ended = await w.run("--json", "run", "verify");
  expect([ended.exitCode, document(ended).differences.missing]).toEqual([0, 0]);
  w.environment = { ...w.environment, CRM_SYNC__policies__drift__different: "earn" };
  expect(await w.run("run", "verify")).toMatchObject({
    exitCode: 78,
    stderr: expect.stringContaining("one of ignore, report, hold, apply is expected"),
  });
});

it("a lock that is lent is kept as M8 shows it, and explained", { tags: "long" }, async () => {
  const { customers, orders, staff } = company(2, 1);
  const type = "normal_recover_usbkey" as const;
  const lock = { id: "L1", customer: "C1", assets: [{ id: "L1-A1", type, forLending: true }] };
  const w = await world({ records: { customers, orders: [...orders, lock], staff } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const number = numberOf(w, "L1-A1");
  const held = numberOf(w, "O1-A1");
  const words = ["--staff", "S1-1", "--lock", number, "--asset", held, "--reason", "travels"];
  expect((await w.run("borrow", "C1", ...words)).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  expect((await w.run("explain", "customer", "C1")).stdout).toMatch(
    new RegExp(`loan ${number}: .*"?lent"?.*true`, "u"),
  );
});
