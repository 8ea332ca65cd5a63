import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/canonical-json.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { canary, company } from "../support/world/crm.ts";
import { enterpriseOf, membersOf, outcome, personOf } from "../support/world/members.ts";
import { folder, rowsOf } from "../support/world/start.ts";

/** The choices among A1–A43, each made in each of its ways, with what the services get then. */

/** Two customers with a person each. */
const company2 = async (settings = {}): Promise<World> =>
  await world({ records: company(2, 1), sandbox: { settings } });

it(
  "A4: each attempt has a nonce of its own of 32 hexadecimal characters, a repetition too",
  { tags: "long" },
  async () => {
    const w = await company2();
    w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", nth: 1 });
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E2: 2, E9: 1, E5: 3, M1: 2, M9: 2 }]);
    const nonces = w.rows<{ nonce: string }>("select nonce from attempt").map((row) => row.nonce);
    expect(nonces).toHaveLength(10);
    expect(new Set(nonces).size).toBe(nonces.length);
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/u);
    expect(w.sandbox.state()).toMatchObject({ licenseOrders: 2, addedStaff: 2, assignments: 2 });
  },
);

describe("A6: clientToken", () => {
  it.each([
    ["is that of Authorization where nothing is said", undefined, 0],
    ["is the one of its own where there is one", "sandbox-app-token", 0],
    ["is no other one than it was told to be", "another-token", 7],
  ] as const)("%s", { tags: "long" }, async (_what, token, exit) => {
    const w = await company2();
    if (token !== undefined) {
      w.environment["CLIENT_TOKEN"] = token;
      w.extra = "memberCenter: { tokens: { clientToken: env:CLIENT_TOKEN } }\n";
      w.write();
    }
    const ran = await w.does("run", "everything");
    // Nothing is bought for somebody of whom the member-center shows nothing.
    const calls = exit === 0 ? { E2: 2, E9: 1, E5: 2, M1: 2, M9: 2 } : { E2: 2 };
    expect(outcome(ran), ran.stdout).toEqual([exit, calls]);
    const count = exit === 0 ? 2 : 0;
    expect(w.sandbox.state()).toMatchObject({ licenseOrders: count, addedStaff: count, assignments: count });
  });
});

it(
  "A7: an enterprise with a userToken of its own is reached by that one, and all others by the common one",
  { tags: "long" },
  async () => {
    const w = await company2();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const own = (token: string): void => {
      w.environment["OWN_TOKEN"] = token;
      w.extra = `memberCenter: { tokens: { userTokens: { "${enterpriseOf(w, "C1")}": env:OWN_TOKEN } } }\n`;
      w.write();
    };
    own("another-token");
    for (const id of ["S1-1", "S2-1"]) personOf(w, id).holds = [];
    w.write();
    const refused = await w.does("run", "everything");
    expect(outcome(refused), refused.stdout).toEqual([7, { M9: 1 }]);
    expect(w.rows("select staff_id from assignment where to_at is null")).toEqual([{ staff_id: "S1-1" }]);
    own("sandbox-user-token");
    const reached = await w.does("run", "everything");
    expect(outcome(reached), reached.stdout).toEqual([0, { M9: 1 }]);
    expect(w.sandbox.state().assignments).toBe(0);
  },
);

describe("A18: a deletion", () => {
  const more = ["address", "crmCustomerId", "customerId", "passwordMobile"];
  it.each([
    ["listed", []],
    ["full", more],
  ])("of the shape %s has these fields more than the contract lists: %s", { tags: "long" }, async (shape, fields) => {
    const w = await company2();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.environment["CRM_SYNC__assumptions__deleteShape"] = shape;
    w.environment["CRM_SYNC__policies__orders__cancelled"] = "apply";
    w.orders = w.orders.map((order) => (order.id === "O1" ? { ...order, cancelled: true } : order));
    personOf(w, "S1-1").holds = [];
    w.write();
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls["E5"]], ran.stdout).toEqual([0, 1]);
    const { deletions, assets } = w.sandbox.state();
    const [channelOrderId = ""] = Object.keys(deletions);
    const [batch] = w.sandbox.batches(channelOrderId);
    const [record] = JSON.parse(batch?.body ?? "{}").orderList;
    expect(more.filter((field) => field in record)).toEqual(fields);
    expect(record).toMatchObject({ orderType: "delete_asset", assets: [{ assetNos: [expect.any(String)] }] });
    expect(assets).toBe(1);
  });
});

describe("A30: the password of new staff", () => {
  /** The passwords that people have on the platform, hashed; its store is let go for it. */
  async function hashes(w: World, store: string): Promise<unknown> {
    await w.sandbox.close();
    return rowsOf<{ hash: string }>(store, "select password_hash as hash from staff where role = 'added'")
      .map(({ hash }) => hash)
      .sort();
  }

  async function stored(): Promise<{ w: World; store: string }> {
    const store = join(folder(), "sandbox.db");
    return { w: await world({ records: company(2, 1), sandbox: { store } }), store };
  }

  it("is the one of the CRM where that is said, for each person their own", async () => {
    const { w, store } = await stored();
    w.environment["CRM_SYNC__assumptions__passwordSource"] = "crm";
    const given = ["S1-1", "S2-1"].map((id) => `${canary.password}-${id}`);
    for (const [index, password] of given.entries()) Object.assign(w.staff[index] ?? {}, { password });
    w.write();
    expect((await w.does("run", "everything")).calls).toMatchObject({ M1: 2 });
    expect(await hashes(w, store)).toEqual(given.map((password) => sha256(password)).sort());
  });

  it("keeps only that person waiting of whom the CRM gives none", async () => {
    const w = await company2();
    w.environment["CRM_SYNC__assumptions__passwordSource"] = "crm";
    personOf(w, "S2-1").password = `${canary.password}-S2-1`;
    w.write();
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls["M1"]], ran.stdout).toEqual([3, 1]);
    expect((await membersOf(w, "C2")).has(`${canary.login}2x1`)).toBe(true);
    expect((await membersOf(w, "C1")).has(`${canary.login}1x1`)).toBe(false);
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("passwordSource");
  });

  it("is generated, and handed out once", async () => {
    const { w, store } = await stored();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const handed: string[] = [];
    for (const id of ["S1-1", "S2-1"]) {
      const told = await w.run("staff", "password", id);
      expect(told.exitCode, told.stderr).toBe(0);
      handed.push(told.stdout.trim());
      expect((await w.run("staff", "password", id)).exitCode).not.toBe(0);
    }
    expect(await hashes(w, store)).toEqual(handed.map((password) => sha256(password)).sort());
  });
});

it(
  "A32: a department is named for who has none where that is said; without it the refusal names the setting",
  { tags: "long" },
  async () => {
    const w = await company2({ requireDepartment: true });
    personOf(w, "S2-1").department = "7";
    w.write();
    const refused = await w.does("run", "everything");
    expect([refused.exitCode, refused.calls["M1"]], refused.stdout).toEqual([3, 2]);
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("defaultDepartmentId");
    expect(w.sandbox.state()).toMatchObject({ addedStaff: 1 });
    w.environment["CRM_SYNC__assumptions__defaultDepartmentId"] = "42";
    expect((await w.does("resync", "--customer", "C1")).calls).toEqual({ M1: 1, M9: 1 });
    expect((await membersOf(w, "C1")).get(`${canary.login}1x1`)).toMatchObject({ departmentId: 42 });
    expect((await membersOf(w, "C2")).get(`${canary.login}2x1`)).toMatchObject({ departmentId: 7 });
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);
