/** @module-tag long */
import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../../src/sandbox/faults.ts";
import { TwoCustomers } from "../../support/world/two-customers.ts";

const whole = { E2: 2, E5: 2, M1: 2, M9: 2 };

/**
 * What was there is adopted and nothing is made twice. Who holds an asset of an adopted order still waits: its numbers
 * are not known.
 */
async function recovers(company: TwoCustomers): Promise<void> {
  const { calls } = await company.runBoth();
  for (const call of ["E2", "E5", "M1"]) expect(calls).not.toHaveProperty(call);
  expect(Object.keys(await company.placed())).toHaveLength(2);
  const waiting = Object.values(await company.waiting());
  expect(waiting.filter((reason) => !reason.startsWith("asset.not-ordered"))).toEqual([]);
  expect(company.twice).toEqual([]);
}

/** Two customers whose enterprises, orders and staff another program has made: the ledger begins anew. */
async function takenOver(): Promise<TwoCustomers> {
  const company = await TwoCustomers.start();
  expect(await company.runBoth()).toEqual({ exits: [0, 0], calls: whole });
  company.loseLedger();
  return company;
}

describe("an id that the platform answers with", () => {
  it.each<[string, FaultRule, Record<string, number>]>([
    ["E2, empty", { operation: "E2", fault: "oddField", field: "enterpriseGlobalId", value: "", times: 1 }, whole],
    ["E5, a blank", { operation: "E5", fault: "oddField", field: "licenseOrderId", value: "64 1", times: 1 }, whole],
    ["M1, a question", { operation: "M1", fault: "oddField", field: "globalId", value: "63?x=1", times: 1 }, whole],
  ])(
    "and that is unusable (%s) leaves the outcome unknown; reading decides, nothing is sent twice",
    async (_, fault, calls) => {
      const company = await TwoCustomers.start();
      company.fault(fault);
      expect(await company.runBoth()).toEqual({ exits: [0, 0], calls });
      expect(await company.waiting()).toEqual({});
      expect(await company.runBoth()).toEqual({ exits: [0, 0], calls: {} });
      expect(company.twice).toEqual([]);
    },
  );

  it.each<[string, FaultRule, string]>([
    ["E3", { operation: "E3", fault: "oddField", field: "enterpriseGlobalId", value: "", about: "C1" }, "E3"],
    ["M5", { operation: "M5", fault: "oddField", field: "globalId", value: "%2e", row: 3 }, "M5"],
    ["M6", { operation: "M6", fault: "oddField", field: "assetId", value: "a b" }, "M6"],
  ])(
    "and that is unusable fails a reading (%s) in plain words; nothing is written on it, and it recovers",
    async (_, fault, call) => {
      const company = await takenOver();
      company.fault(fault);
      const { exits, calls } = await company.runBoth();
      expect(exits).toContain(7);
      expect(calls).not.toHaveProperty("E2");
      expect(calls).not.toHaveProperty("M1");
      expect(Object.values(await company.waiting()).join("\n")).toMatch(
        new RegExp(`service.unreadable: ${call} .*the data does not fit at .*: the id `),
      );
      company.sandbox.faults.clear();
      await recovers(company);
    },
  );
});

describe("an enterprise of which E3 shows only some customers at first", () => {
  it.each([
    ["none", 2],
    ["the one that takes no orders", 1],
  ])("(%s) is read again before its order is blocked, within the same run", async (_, drop) => {
    const company = await TwoCustomers.start();
    company.fault({ operation: "E3", fault: "shortPage", drop, dropFrom: "start", nth: 2, about: "C1" });
    expect(await company.runBoth()).toEqual({ exits: [0, 0], calls: whole });
    expect(await company.waiting()).toEqual({});
  });

  it("is not placed for on what it shows as long as readings of one run show less than E2 makes", async () => {
    const company = await TwoCustomers.start();
    company.environment = { CRM_SYNC__assumptions__customerSelection__default: "non-default" };
    company.fault({ operation: "E3", fault: "shortPage", drop: 1, dropFrom: "end", about: "C1" });
    expect(await company.run("deals")).toMatchObject({ calls: { E2: 2, E5: 1 } });
    expect((await company.waiting())["O1"]).toContain("exactly one must fit (A12)");
    company.sandbox.faults.clear();
    expect(await company.runBoth()).toMatchObject({ exits: [0, 0], calls: { E5: 1 } });
  });
});

describe("E3 that says neither that there is a customer nor that there is none", () => {
  it.each<[string, Partial<FaultRule>]>([
    ["null", { value: null }],
    ["no data", {}],
  ])(
    "(%s) makes nothing: the customer waits and the other one is served; a setting may say that it means none",
    async (_, odd) => {
      const company = await TwoCustomers.start();
      company.fault({ operation: "E3", fault: "oddData", about: "C1", ...odd });
      const { calls } = await company.run("deals");
      expect(calls).toEqual({ E2: 1, E5: 1 });
      expect((await company.waiting())["C1"]).toMatch(/^enterprise.ambiguous: .*C1.*assumptions.nullEnterprises/);
      company.sandbox.faults.clear();
      company.fault({ operation: "E3", fault: "oddData", about: "C1", times: 1, ...odd });
      company.environment = { CRM_SYNC__assumptions__nullEnterprises: "none" };
      expect(await company.runBoth()).toMatchObject({ exits: [0, 0], calls: { E2: 1, E5: 1 } });
      expect(company.twice).toEqual([]);
    },
  );

  it("proves nothing about an E2 whose answer was lost", async () => {
    const company = await TwoCustomers.start();
    await company.run("deals");
    company.world.customers.push({ id: "C3" });
    company.fault({ operation: "E2", fault: "resetBefore", times: 1 });
    company.fault({ operation: "E3", fault: "oddData", value: null, about: "C3", nth: [2, 3, 4, 5, 6, 7, 8] });
    expect((await company.run("deals")).calls).toEqual({ E2: 1 });
    expect(await company.parked()).toEqual([{ endpoint: "E2", outcomeMessage: expect.stringContaining("null") }]);
  });
});

describe("a row of E3 that is not what was asked for", () => {
  it.each<[string, FaultRule, string]>([
    ["another case", { operation: "E3", fault: "oddField", field: "channelCustomerId", value: "c1" }, '"c1"'],
    ["a blank", { operation: "E3", fault: "oddField", field: "channelCustomerId", value: "C1 " }, '"C1 "'],
    ["another channel", { operation: "E3", fault: "oddField", field: "channelCode", value: "web" }, '"web"'],
    [
      "one of two rows",
      { operation: "E3", fault: "oddField", field: "channelCustomerId", value: "C10", row: 2 },
      '"C10"',
    ],
  ])(
    "(%s) is never adopted, and nothing is made beside it; the message says what was asked and what came",
    async (_, fault, came) => {
      const company = await takenOver();
      company.fault({ ...fault, about: "C1" });
      const { calls } = await company.runBoth();
      expect(calls).not.toHaveProperty("E2");
      const said = (await company.waiting())["C1"];
      expect(said).toMatch(/^enterprise.ambiguous: /);
      expect(said).toContain('"C1"');
      expect(said).toContain(came);
      expect((await company.w.ask("explain", "customer", "C1")).links).toEqual([]);
      company.sandbox.faults.clear();
      await recovers(company);
    },
  );

  it("is no proof of an E2 whose answer was lost", async () => {
    const company = await TwoCustomers.start();
    company.fault({ operation: "E2", fault: "appliedNoReply", times: 1 });
    company.fault({ operation: "E3", fault: "oddField", field: "channelCode", value: "web" });
    const { calls } = await company.run("deals");
    expect(calls["E5"]).toBeUndefined();
    expect(await company.parked()).toEqual([{ endpoint: "E2", outcomeMessage: expect.stringContaining('"web"') }]);
    company.sandbox.faults.clear();
    await company.runBoth();
    expect(await company.runBoth()).toEqual({ exits: [0, 0], calls: {} });
    expect(company.twice).toEqual([]);
  });
});

describe("an answer with its code twice", () => {
  it.each(["E2", "E5", "M1", "M9"] as const)(
    "(%s, applied) leaves the outcome unknown; reading decides",
    async (operation) => {
      const company = await TwoCustomers.start();
      company.fault({ operation, fault: "codeTwice", times: 1 });
      expect(await company.runBoth()).toEqual({ exits: [0, 0], calls: whole });
      expect(await company.waiting()).toEqual({});
      expect(company.twice).toEqual([]);
    },
  );

  it("(E5, not applied) is no success: the order is placed once reading has not shown it", async () => {
    const company = await TwoCustomers.start();
    company.fault({ operation: "E5", fault: "codeTwice", applied: false, times: 1 });
    expect(await company.run("deals")).toMatchObject({ exit: 0, calls: { E2: 2, E5: 3 } });
    expect(Object.keys(await company.placed())).toHaveLength(2);
    expect(company.twice).toEqual([]);
  });

  it("fails a reading, and nothing is written on it", async () => {
    const company = await takenOver();
    company.fault({ operation: "E3", fault: "codeTwice" });
    const { exits, calls } = await company.runBoth();
    expect([exits[0], calls]).toEqual([7, {}]);
    expect(Object.values(await company.waiting()).join("\n")).toContain("a member stands twice");
    company.sandbox.faults.clear();
    await recovers(company);
  });
});
