import { describe, expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { company, assetRow } from "../../support/world/crm.ts";
import type { AssetRow } from "../../support/world/crm.ts";
import type { LicenseType } from "../../../src/crm/model.ts";

const why = ["--reason", "reported stolen", "--by", "anna.lee"];
/** What the CRM wants locked is not held first. */
const applied = { CRM_SYNC__policies__locks__locked: "apply" };

/** Two customers with two re-issuable locks each, or with assets of another type. */
async function synchronised(type: LicenseType = "normal_recover_usbkey"): Promise<World> {
  const { orders, ...records } = company(2, 2);
  const lockable = orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => ({ ...assetRow(asset), type })),
  }));
  const w = await world({ records: { ...records, orders: lockable } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The CRM says of an asset whether it is to be locked; undefined: it says nothing. */
function flag(w: World, instance: string, locked: boolean | undefined): void {
  w.orders = w.orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => (assetRow(asset).id === instance ? { ...assetRow(asset), locked } : asset)),
  }));
  w.write();
}

function numberOf(w: World, instance: string): string {
  const sql = "select wire_number as number from asset_number where instance_id = ?";
  return w.rows<{ number: string }>(sql, instance)[0]?.number ?? "";
}

const lockedIn = (w: World): number => w.sandbox.state().lockedAssets;

describe("a lock that the CRM wants switched", () => {
  it(
    "is disabled and enabled once for each change of the flag, and the other customer's stays",
    { tags: "long" },
    async () => {
      const w = await synchronised();
      w.environment = { ...w.environment, ...applied };
      flag(w, "O1-A1", true);
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E6: 1 } });
      expect(lockedIn(w)).toBe(1);
      const explained = (await w.run("explain", "customer", "C1")).stdout;
      expect(explained).toContain(`lock ${numberOf(w, "O1-A1")} is locked: status 1`);
      expect(explained).toContain("asked by the CRM: order crm/O1");
      expect((await w.run("explain", "customer", "C2")).stdout).not.toContain("is locked");
      expect((await w.run("explain", "order", "O1")).stdout).toContain(`lock ${numberOf(w, "O1-A1")} is locked`);
      expect((await w.run("explain", "order", "O2")).stdout).not.toContain("is locked");
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });

      flag(w, "O1-A1", undefined);
      expect(await w.does("run", "everything"), "the CRM says nothing of it").toMatchObject({ exitCode: 0, calls: {} });
      flag(w, "O1-A1", false);
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E7: 1 } });
      expect(lockedIn(w)).toBe(0);
      flag(w, "O1-A1", true);
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E6: 1 } });
    },
  );

  it("stays as a person asked since, until the flag changes again", { tags: "long" }, async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, ...applied };
    flag(w, "O1-A1", true);
    flag(w, "O2-A1", true);
    expect((await w.does("run", "everything")).calls).toEqual({ E6: 2 });
    expect((await w.run("unlock", "C1", "--asset", numberOf(w, "O1-A1"), ...why)).exitCode).toBe(0);
    flag(w, "O1-A2", true);
    expect((await w.does("run", "everything")).calls, "another asset of the same order").toEqual({ E6: 1 });
    expect(lockedIn(w)).toBe(2);
    flag(w, "O1-A1", false);
    expect((await w.does("run", "everything")).calls, "it is unlocked already, and harmless").toEqual({ E7: 1 });
    flag(w, "O1-A1", true);
    expect((await w.does("run", "everything")).calls).toEqual({ E6: 1 });
    expect(lockedIn(w)).toBe(3);
  });

  it("is not asked for again where a person took it back", { tags: "long" }, async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, ...applied };
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 4, times: 1 });
    flag(w, "O1-A1", true);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, calls: { E6: 1 } });
    expect((await w.run("status")).stdout).toContain("status 4");
    expect(await w.does("run", "everything"), "it waits for a person").toMatchObject({ exitCode: 3, calls: {} });
    const number = numberOf(w, "O1-A1");
    expect((await w.run("lock", "C1", "--asset", number, ...why, "--withdraw")).exitCode).toBe(0);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  });

  it("is tried again by the next run where it failed, and told of until then", { tags: "long" }, async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, ...applied };
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 3, times: 1 });
    flag(w, "O1-A1", true);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, calls: { E6: 1 } });
    expect((await w.run("status")).stdout).toContain("the next run tries again");
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E6: 1 } });
    expect(lockedIn(w)).toBe(1);
  });

  it("is locked with the run that places its order", async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, ...applied };
    w.orders.push({
      id: "O3",
      customer: "C1",
      assets: [{ id: "O3-A1", type: "normal_recover_usbkey", quantity: 2, locked: true }],
    });
    w.write();
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: 1, E6: 1 } });
    expect(lockedIn(w)).toBe(2);
  });

  it(
    "is left alone where its number is another customer's, or of an asset that is not bought",
    { tags: "long" },
    async () => {
      const w = await synchronised();
      w.environment = { ...w.environment, ...applied, CRM_SYNC__policies__orders__added: "hold" };
      const theirs = numberOf(w, "O2-A1");
      const unbought = "8000000000000000055";
      const added = (id: string, number: string): AssetRow => ({
        id,
        type: "normal_recover_usbkey",
        numbers: [number],
        locked: true,
      });
      w.orders = w.orders.map((row) =>
        row.id === "O1" ? { ...row, assets: [...row.assets, added("A8", theirs), added("A9", unbought)] } : row,
      );
      w.write();
      const held = await w.does("run", "everything");
      expect([held.calls, lockedIn(w)], held.stdout).toEqual([{}, 0]);
      expect(w.rows("select about from manual_request")).toEqual([]);

      w.orders = w.orders.map((row) => ({ ...row, assets: row.assets.filter((asset) => assetRow(asset).id !== "A8") }));
      w.write();
      await w.run("run", "everything");
      const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
      expect((await w.run("approve", hold?.id ?? "", ...why)).exitCode).toBe(0);
      const bought = await w.does("run", "everything");
      expect([bought.exitCode, bought.calls, lockedIn(w)], bought.stdout).toEqual([0, { E5: 1, E6: 1 }, 1]);
      expect(w.rows("select about from manual_request")).toEqual([{ about: unbought }]);
    },
  );

  it("of an asset that is gone from its order stays as it is, whatever the flag says", { tags: "long" }, async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, ...applied, CRM_SYNC__policies__orders__ended: "report" };
    w.orders = w.orders.map((row) => (row.id === "O1" ? { ...row, cancelled: true } : row));
    flag(w, "O1-A1", true);
    await w.run("run", "everything");
    expect([lockedIn(w), w.rows("select about from manual_request")]).toEqual([0, []]);
  });

  it("of a type that cannot be switched is told of, and nothing is sent", { tags: "long" }, async () => {
    const w = await synchronised("cloud_account");
    w.environment = { ...w.environment, ...applied };
    flag(w, "O1-A1", true);
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls]).toEqual([3, {}]);
    expect((await w.run("explain", "order", "O1")).stdout).toContain("asset.wrong-type");
  });

  it("is only told of, or not even that, where the policy says so", { tags: "long" }, async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, CRM_SYNC__policies__locks__locked: "report" };
    flag(w, "O1-A1", true);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect((await w.run("explain", "order", "O1")).stdout).toContain("policies.locks.locked is report");
    w.environment = { ...w.environment, CRM_SYNC__policies__locks__locked: "ignore" };
    flag(w, "O2-A1", true);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
    expect(w.rows("select * from manual_request")).toEqual([]);
  });

  it(
    "waits for a person until ten were approved, while what a person asks for and what gives back goes on",
    { tags: "long" },
    async () => {
      const w = await synchronised();
      flag(w, "O1-A1", true);
      flag(w, "O2-A1", true);
      const first = await w.does("run", "everything");
      expect([first.exitCode, first.calls, lockedIn(w)]).toEqual([4, {}, 0]);
      expect(first.stdout).toContain("locks.locked is earn, and 0 of 10 operations of this kind (lock-assets)");
      expect(await w.does("run", "everything"), "still held").toMatchObject({ exitCode: 4, calls: {} });
      expect(await w.does("lock", "C1", "--asset", numberOf(w, "O1-A2"), ...why)).toMatchObject({ calls: { E6: 1 } });
      expect(lockedIn(w), "what a person asks for is sent alone").toBe(1);

      const holds = w.rows<{ id: string; customer_id: string }>(
        "select id, customer_id from hold where state = 'open'",
      );
      expect(holds.map((hold) => hold.customer_id).toSorted()).toEqual(["C1", "C2"]);
      const ofFirst = holds.find((hold) => hold.customer_id === "C1")?.id ?? "";
      expect((await w.run("approve", ofFirst, ...why)).exitCode).toBe(0);
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 4, calls: { E6: 1 } });
      expect(lockedIn(w), "the other customer's still waits").toBe(2);
      flag(w, "O2-A1", false);
      const given = await w.does("run", "everything");
      expect([given.exitCode, given.calls, lockedIn(w)], "it was never locked").toEqual([0, { E7: 1 }, 2]);
    },
  );

  it("leaves no hold behind where a person takes back what waits for one", { tags: "long" }, async () => {
    const w = await synchronised();
    flag(w, "O1-A1", true);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 4, calls: {} });
    const number = numberOf(w, "O1-A1");
    expect((await w.run("lock", "C1", "--asset", number, ...why, "--withdraw")).exitCode).toBe(0);
    await w.run("run", "everything");
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
    expect(w.rows("select state from hold")).toEqual([{ state: "lapsed" }]);
  });

  it(
    "is not disabled while a source of the customer is shrunken, and is enabled all the same",
    { tags: "long" },
    async () => {
      const w = await synchronised();
      w.environment = { ...w.environment, ...applied };
      flag(w, "O1-A2", true);
      expect((await w.does("run", "everything")).calls).toEqual({ E6: 1 });
      w.staff = w.staff.slice(0, 1);
      flag(w, "O1-A1", true);
      flag(w, "O1-A2", false);
      const ended = await w.does("run", "everything");
      expect([ended.calls, lockedIn(w)]).toEqual([{ E7: 1 }, 0]);
      expect((await w.run("explain", "order", "O1")).stdout).toContain("revokes.");
    },
  );

  it("is in a saved plan, which applies what it says", { tags: "long" }, async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, ...applied, CRM_SYNC__policies__locks__locked: "apply" };
    flag(w, "O1-A1", true);
    const plan = w.path("plan.ndjson");
    expect((await w.run("plan", "--out", plan)).exitCode).toBe(2);
    expect(await w.does("apply", plan)).toMatchObject({ exitCode: 0, calls: { E6: 1 } });
    expect(lockedIn(w)).toBe(1);
  });
});

it(
  "a lock whose asset took the place of another one is switched also where the CRM asked while nothing was done of it",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const [first, second] = ["8000009999", "8000009998"];
    const numbered = (number: string, locked?: boolean): void => {
      w.orders = w.orders.map((order) => ({
        ...order,
        assets: order.assets.map((asset) =>
          assetRow(asset).id === "O1-A1" ? { ...assetRow(asset), numbers: [number], locked } : asset,
        ),
      }));
      w.write();
    };
    w.environment = { ...w.environment, ...applied, CRM_SYNC__policies__orders__ended: "apply" };
    for (const number of [first, second]) {
      numbered(number);
      expect((await w.does("run", "everything")).calls).toMatchObject({ E5: 2 });
    }
    w.environment["CRM_SYNC__policies__locks__locked"] = "report";
    numbered(second, true);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect((await w.run("explain", "order", "O1")).stdout).toContain("policy.reported");
    w.environment["CRM_SYNC__policies__locks__locked"] = "apply";
    expect((await w.does("resync", "--customer", "C1")).calls).toEqual({ E6: 1 });
    expect((await w.run("explain", "customer", "C1")).stdout).toContain(`lock ${second} is locked`);
  },
);

it(
  "a lock of a unit whose purchase was refused is left alone, and those that stand are switched",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, ...applied };
    const quantity = (of: number, locked?: boolean): void => {
      w.orders = w.orders.map((order) => ({
        ...order,
        assets: order.assets.map((asset) =>
          assetRow(asset).id === "O1-A1" ? { ...assetRow(asset), quantity: of, locked } : asset,
        ),
      }));
      w.write();
    };
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
    quantity(2);
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    w.environment["CRM_SYNC__policies__locks__locked"] = "report";
    quantity(1, true);
    expect((await w.does("run", "everything")).calls).toEqual({});
    w.environment["CRM_SYNC__policies__locks__locked"] = "apply";
    expect((await w.does("resync", "--customer", "C1")).calls).toEqual({ E6: 1 });
    expect(lockedIn(w)).toBe(1);
  },
);
