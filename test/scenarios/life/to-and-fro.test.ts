import { expect, test } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { assetRow, company } from "../../support/world/crm.ts";

/** The CRM says another branch of a customer. */
function branch(w: World, customer: string, name: string): void {
  const row = w.customers.find(({ id }) => id === customer);
  if (row !== undefined) row.branch = name;
  w.write();
}

function openHolds(w: World): { id: string; scope: string; explanation: string }[] {
  return w.rows("select id, scope, explanation from hold where state = 'open'");
}

test(
  "a value that the CRM turns to and fro is one change a run, and a person is asked after the fifth time back",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 1) });
    branch(w, "C1", "North");
    const first = await w.run("run", "everything");
    expect(first.exitCode, first.stdout + first.stderr).toBe(0);

    const names = ["South", "North", "South", "North", "South", "North"];
    for (const [time, name] of names.entries()) {
      branch(w, "C1", name);
      const { exitCode, calls, stdout } = await w.does("run", "everything");
      const isHeld = time === names.length - 1;
      expect([exitCode, calls], `${time}: ${stdout}`).toEqual(isHeld ? [4, {}] : [0, { E4: 1 }]);
    }
    expect(openHolds(w)).toMatchObject([
      {
        scope: "flips",
        explanation: "the CRM changed customer crm/C1 to and fro 5 times in a row; changed in the CRM: branch",
      },
    ]);
    // Nobody else waits for it, and what goes on turning goes on waiting.
    branch(w, "C2", "East");
    expect((await w.does("run", "everything")).calls).toEqual({ E4: 1 });
    branch(w, "C1", "South");
    const turned = await w.does("run", "everything");
    expect([turned.exitCode, turned.calls], "the platform has it as it is now").toEqual([0, {}]);
    branch(w, "C1", "North");
    expect((await w.does("run", "everything")).calls).toEqual({});

    const [hold] = openHolds(w);
    expect((await w.run("approve", hold?.id ?? "", "--reason", "the office has moved at last")).exitCode).toBe(0);
    expect((await w.does("run", "everything")).calls).toEqual({ E4: 1 });
    // It counts anew from here.
    branch(w, "C1", "South");
    const next = await w.does("run", "everything");
    expect([next.exitCode, next.calls], next.stdout).toEqual([0, { E4: 1 }]);
  },
);

test(
  "a lock that the CRM switches to and fro waits for a person in the end, and what a person asks for does not",
  { tags: "long" },
  async () => {
    const { orders, ...records } = company(2, 1);
    const lockable = (locked: boolean) =>
      orders.map((order) => ({
        ...order,
        assets: order.assets.map((asset) => ({
          ...assetRow(asset),
          type: "normal_recover_usbkey" as const,
          ...(order.id === "O1" ? { locked } : {}),
        })),
      }));
    const w = await world({ records: { ...records, orders: lockable(false) } });
    branch(w, "C1", "South");
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.environment = { ...w.environment, CRM_SYNC__policies__locks__locked: "apply" };
    for (let time = 0; time < 8; time += 1) {
      w.orders = lockable(time % 2 === 0);
      branch(w, "C1", time % 2 === 0 ? "North" : "South");
      const { exitCode, calls, stdout } = await w.does("run", "everything");
      const isHeld = time > 4;
      const lock = time % 2 === 0 ? { E6: 1 } : { E7: 1 };
      expect([exitCode, calls], `${time}: ${stdout}`).toEqual(isHeld ? [4, {}] : [0, { E4: 1, ...lock }]);
    }
    const told = openHolds(w).map(({ explanation }) => explanation);
    expect(told.join()).toContain("the CRM changed order crm/O1 to and fro");
    const sql = "select wire_number as number from asset_number where order_id = 'O1'";
    const number = w.rows<{ number: string }>(sql)[0]?.number ?? "";
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 3, times: 1 });
    const byHand = await w.does("lock", "C1", "--asset", number, "--reason", "reported stolen");
    expect([byHand.exitCode, byHand.calls], byHand.stdout + byHand.stderr).toEqual([3, { E6: 1 }]);
    const again = await w.does("run", "everything");
    expect(again.calls, "the customer's own change is held, and its lock is tried again").toEqual({ E6: 1 });
    expect(w.sandbox.state().lockedAssets).toBe(1);
  },
);

test(
  "a name that turns to and fro is asked about after five times, also where another form stands in between each time",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(1, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const seen = [];
    for (let i = 0; i < 8; i += 1) {
      w.customers = w.customers.map((c) => ({ ...c, name: i % 2 === 0 ? "Zqcanary Other" : "Zqcanary Works" }));
      w.write();
      const r = await w.does("run", "everything");
      seen.push([r.exitCode, r.calls, w.rows("select flips from record where stream = 'customers'")]);
      // The very row is another once, and comes back as it was.
      const c = w.customers;
      w.customers = c.map((one) => ({ ...one, email: "no address" }));
      w.write();
      await w.does("run", "everything");
      w.customers = c;
      w.write();
      await w.does("run", "everything");
    }
    expect(
      seen.some(([exit]) => exit === 4),
      JSON.stringify(seen),
    ).toBe(true);
  },
);
