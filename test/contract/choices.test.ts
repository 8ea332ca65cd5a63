import { describe, expect, it } from "vitest";
import { enterpriseOf, operationsOf, waitsFor } from "../support/asking.ts";
import { world, type Parsed, type World } from "../support/cli.ts";
import { canary, company } from "../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../support/world/members.ts";

/** The choices among A1–A43, each made in each of its ways, with what the services get then. */

/** Two customers with a person each. */
const two = async (settings = {}): Promise<World> => await world({ records: company(2, 1), sandbox: { settings } });

it("A4: each attempt has a nonce of its own of 32 hexadecimal characters", { tags: "long" }, async () => {
  const w = await two();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", nth: 1 });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E2: 2, E9: 1, E5: 3, M1: 2, M9: 2 }]);
  const nonces: string[] = [];
  for (const [kind, id] of ["1", "2"].flatMap(
    (n) =>
      [
        ["customer", `C${n}`],
        ["order", `O${n}`],
        ["staff", `S${n}-1`],
      ] as const,
  ))
    for (const { attempts } of await operationsOf(w, kind, id))
      nonces.push(...attempts.map((one: Parsed) => one.nonce));
  expect(new Set(nonces).size).toBeGreaterThan(6);
  expect(new Set(nonces).size).toBe(nonces.length);
  for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/u);
});

describe("A6: clientToken", () => {
  it.each([
    ["is that of Authorization by default", undefined, 0, { M1: 2, M9: 2 }],
    ["is the configured one", "sandbox-app-token", 0, { M1: 2, M9: 2 }],
    ["is no other one than the configured one", "another-token", 7, {}],
  ] as const)("%s", { tags: "long" }, async (_what, token, exit, people) => {
    const w = await two();
    if (token !== undefined) {
      w.environment["CLIENT_TOKEN"] = token;
      w.extra = "memberCenter: { tokens: { clientToken: env:CLIENT_TOKEN } }\n";
      w.write();
    }
    // What one service refuses keeps nothing from the other one.
    expect(outcome(await w.does("run", "everything"))).toEqual([exit, { E2: 2, E9: 1, E5: 2, ...people }]);
  });
});

it(
  "A7: the enterprise that has a userToken of its own is reached by it, others by the common one",
  { tags: "long" },
  async () => {
    const w = await two();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const enterprise = await enterpriseOf(w, "C1");
    const own = (token: string): void => {
      w.environment["OWN_TOKEN"] = token;
      w.extra = `memberCenter: { tokens: { userTokens: { "${enterprise}": env:OWN_TOKEN } } }\n`;
      w.write();
    };
    for (const id of ["S1-1", "S2-1"]) personOf(w, id).holds = [];
    own("another-token");
    expect(outcome(await w.does("run", "everything"))).toEqual([7, { M9: 1 }]);
    own("sandbox-user-token");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
    expect(w.sandbox.state().assignments).toBe(0);
  },
);

describe("A18: a deletion", () => {
  const more = ["address", "crmCustomerId", "customerId", "passwordMobile"];
  it.each([
    ["listed", []],
    ["full", more],
  ])("of the shape %s has these fields more than the contract lists: %s", { tags: "long" }, async (shape, fields) => {
    const w = await two();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.environment["CRM_SYNC__assumptions__deleteShape"] = shape;
    w.environment["CRM_SYNC__policies__orders__cancelled"] = "apply";
    w.orders = w.orders.map((order) => (order.id === "O1" ? { ...order, cancelled: true } : order));
    personOf(w, "S1-1").holds = [];
    w.write();
    expect((await w.does("run", "everything")).calls).toMatchObject({ E5: 1 });
    const { deletions, assets } = w.sandbox.state();
    const [batch] = w.sandbox.batches(Object.keys(deletions)[0] ?? "");
    const [record] = JSON.parse(batch?.body ?? "{}").orderList;
    expect(more.filter((field) => field in record)).toEqual(fields);
    expect(record).toMatchObject({ orderType: "delete_asset", assets: [{ assetNos: [expect.any(String)] }] });
    expect(assets).toBe(1);
  });
});

it(
  "A30: only the person waits of whom the CRM gives no password when it is to give them",
  { tags: "long" },
  async () => {
    const w = await two();
    w.environment["CRM_SYNC__assumptions__passwordSource"] = "crm";
    personOf(w, "S2-1").password = `${canary.password}-S2-1`;
    w.write();
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls["M1"]]).toEqual([3, 1]);
    expect((await membersOf(w, "C2")).has(`${canary.login}2x1`)).toBe(true);
    expect(await waitsFor(w, "S1-1", "staff")).toEqual(expect.any(String));
  },
);

it("A32: a person without a department gets the configured one", { tags: "long" }, async () => {
  const w = await two({ requireDepartment: true });
  personOf(w, "S2-1").department = "7";
  w.write();
  const refused = await w.does("run", "everything");
  expect([refused.exitCode, refused.calls["M1"]]).toEqual([3, 2]);
  w.environment["CRM_SYNC__assumptions__defaultDepartmentId"] = "42";
  expect((await w.does("resync", "--customer", "C1")).calls).toEqual({ M1: 1, M9: 1 });
  expect((await membersOf(w, "C1")).get(`${canary.login}1x1`)).toMatchObject({ departmentId: 42 });
  expect((await membersOf(w, "C2")).get(`${canary.login}2x1`)).toMatchObject({ departmentId: 7 });
  expect((await w.does("run", "everything")).calls).toEqual({});
});
