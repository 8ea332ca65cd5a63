import { describe, expect, it } from "vitest";
import { notDone, operationsOf, unsettled } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { runResultOf, type Ended } from "../../support/program.ts";
import { base, secondCustomer, secondOrder } from "../../support/world/small.ts";
import { canary, type Crm, type GivenStaff } from "../../support/world/crm.ts";
import type { FaultRule } from "../../../src/sandbox/faults.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

/** Two customers: the one of the small world, and one without orders and people. */
const twoCustomers: Crm = { ...base, customers: [...base.customers, secondCustomer] };

function person(id: string, fields: Partial<GivenStaff> = {}): GivenStaff {
  return { customer: "C1", ...fields, id };
}

interface Result {
  exit: number;
  adds: boolean;
  calls: Record<string, number>;
}

/** One ledger and one platform over several runs. */
class Company {
  readonly w: World;
  readonly sandbox: Sandbox;

  private constructor(w: World) {
    this.w = w;
    this.sandbox = w.sandbox;
  }

  static async open(records: Crm = twoCustomers, time?: "on machine time"): Promise<Company> {
    return new Company(await world({ records, ...(time === undefined ? {} : { isOnMachineTime: true }) }));
  }

  /** With everything of the world done. */
  static async settled(records: Crm = twoCustomers, time?: "on machine time"): Promise<Company> {
    const company = await Company.open(records, time);
    expect((await company.run()).exit).toBe(0);
    return company;
  }

  export(next: Partial<Crm>): void {
    Object.assign(this.w, next);
    this.w.write();
  }

  fault(rule: FaultRule): void {
    this.sandbox.faults.add(rule);
  }

  /** One run, with these settings. */
  async run(settings: Record<string, string> = {}): Promise<Result> {
    const { environment } = this.w;
    this.w.environment = { ...environment, ...settings };
    const result = await this.does("run", "everything");
    this.w.environment = environment;
    return result;
  }

  async resync(customer: string): Promise<Result> {
    return await this.does("resync", "--customer", customer);
  }

  private async does(...words: string[]): Promise<Result> {
    const ended: Ended & { calls: Record<string, number> } = await this.w.does("--json", ...words);
    const { exit, balance } = runResultOf(ended);
    const { E9: _, ...calls } = ended.calls;
    return { exit, adds: balance.adds, calls };
  }

  /** The records that are not done. */
  async open() {
    return await notDone(this.w);
  }

  /** Whether the order that was refused waits for a person now. */
  async isParked(): Promise<boolean> {
    return (await operationsOf(this.w, "order", "O2")).some(({ state }) => state === "parked");
  }
}

/** The numbers of the order that was refused. */
const numbersOf = async (w: World): Promise<unknown> => (await w.ask("explain", "order", "O2")).numbers;

/** Nothing is sent again, and the run says that not all is done. */
const nothing = { exit: 3, adds: true, calls: {} };

describe("an M1 that is refused for one person's sake", { tags: "long" }, () => {
  it("is split until that one is alone; all others are added and served, and only that record waits for a correction", async () => {
    const ids = Array.from({ length: 13 }, (_, index) => `P${index + 10}`);
    const people = ids.map((id) =>
      person(id, id === "P15" ? { mobile: "no number 77" } : id === "P11" ? { holds: ["A1"] } : {}),
    );
    const company = await Company.open({ ...twoCustomers, staff: people });
    const first = await company.run();
    expect(first).toMatchObject({ exit: 3, adds: true, calls: { E2: 2, E5: 1, M9: 1 } });
    // One that is whole, and two halves for each halving: 13 → 7 → 4 → 2 → 1.
    expect(first.calls["M1"]).toBeLessThanOrEqual(1 + 2 * 4);
    expect(company.sandbox.state()).toMatchObject({ addedStaff: 12, assignments: 1 });
    const [wrong, ...others] = await company.open();
    expect(others).toEqual([]);
    expect(wrong).toMatchObject({ record: "staff P15", outcome: "rejected", code: "rejected.10004", pending: false });
    expect(wrong?.reason).toMatch(/field mobile of staff crm\/P15.*Correct the mobile number in the CRM/u);
    expect(wrong?.reason).not.toContain("no number 77");

    // A later hire is added without the one at fault, who is not sent again.
    company.export({ staff: [...people, person("P30", { holds: ["A2"] })] });
    expect(await company.run()).toMatchObject({ adds: true, calls: { M1: 1, M9: 1 } });
    expect(await company.open()).toHaveLength(1);
    expect(await company.run()).toEqual(nothing);

    company.export({ staff: company.w.staff.map((row) => (row.id === "P15" ? person("P15") : row)) });
    expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { M1: 1 } });
    expect(await company.open()).toEqual([]);
    expect(company.sandbox.state()).toMatchObject({ addedStaff: 14, assignments: 2 });
  });

  it("that adds some and refuses one (60027) sends the one again in later runs: such a row has words and no code, and may pass", async () => {
    const company = await Company.open();
    company.fault({ operation: "M1", fault: "partialM1", drop: 1, times: 2 });
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { M1: 1, M9: 1 } });
    const refused = [{ record: "staff S2", outcome: "rejected", code: "staff.refused", pending: false }];
    expect(await company.open()).toMatchObject(refused);
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { M1: 1 } });
    expect(await company.open()).toMatchObject(refused);
    expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { M1: 1 } });
    expect(await company.open()).toEqual([]);
  });

  it("that refuses the same one each time (60027) sends that one three times in all, and the others once", async () => {
    const company = await Company.open();
    company.fault({ operation: "M1", fault: "partialM1", drop: 1, times: 5 });
    const once = { exit: 3, adds: true, calls: { M1: 1 } };
    for (let run = 0; run < 3; run += 1) expect(await company.run(), `run ${run + 1}`).toMatchObject(once);
    expect(await company.run()).toEqual(nothing);
    expect(await company.open()).toMatchObject([{ record: "staff S2", outcome: "rejected", code: "staff.refused" }]);
    // Somebody's word begins the count anew.
    expect(await company.resync("C1")).toMatchObject(once);
    expect(await company.run()).toMatchObject(once);
    expect(await company.run()).toMatchObject({ exit: 0, calls: { M1: 1 } });
    expect(await company.run()).toEqual({ exit: 0, adds: true, calls: {} });
    expect(company.sandbox.state()).toMatchObject({ addedStaff: 2 });
  });
});

describe("an M9 that is refused", { tags: "long" }, () => {
  const codes = ["60023", "60024", "60025", "60026", "60028"];

  it("stops this person alone: leavers lose, later hires get, orders are placed; it is tried again for a setting or a person", async () => {
    const company = await Company.settled({
      ...twoCustomers,
      staff: [person("S1", { holds: ["A1"] }), person("S2")],
    });
    // S1 leaves, S2 is to get the other asset and cannot, S3 is new and gets the one that S1 had.
    company.export({
      staff: [person("S1"), person("S2", { holds: ["A2"] }), person("S3", { holds: ["A1"] })],
      orders: [...base.orders, secondOrder],
    });
    company.fault({ operation: "M9", fault: "status299", code: "60023", nth: 2 });
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { E5: 1, M1: 1, M9: 3 } });
    expect(await company.open()).toMatchObject([
      { record: "staff S2", outcome: "rejected", code: "rejected.60023", pending: false },
    ]);
    expect(company.sandbox.state()).toMatchObject({ assignments: 1, addedStaff: 3 });
    expect(await company.run()).toEqual(nothing);

    company.fault({ operation: "M9", fault: "status299", code: "60023", times: 2 });
    const otherSetting = { CRM_SYNC__assumptions__poolBatch: "2" };
    expect(await company.run(otherSetting)).toMatchObject({ exit: 3, adds: true, calls: { M9: 1 } });
    expect(await company.run(otherSetting)).toEqual(nothing);
    expect(await company.resync("C1")).toMatchObject({ exit: 3, adds: true, calls: { M9: 1 } });
    expect(await company.resync("C1")).toMatchObject({ exit: 0, adds: true, calls: { M9: 1 } });
    expect(await company.open()).toEqual([]);
    expect(company.sandbox.state()).toMatchObject({ assignments: 2 });
  });

  it("says for each code something else to do, and is not sent again by itself with any of them", async () => {
    const cures = new Set<string>();
    const company = await Company.settled({ ...twoCustomers, staff: [person("S1"), person("S2")] });
    for (const [index, code] of codes.entries()) {
      company.export({
        staff: [person("S1", { holds: [`A${1 + (index % 2)}`], mobile: `+49151${index}` }), person("S2")],
      });
      company.fault({ operation: "M9", fault: "status299", code, times: 1 });
      expect(await company.run(), code).toMatchObject({ exit: 3, adds: true, calls: { M9: 1 } });
      expect(await company.open(), code).toMatchObject([
        { record: "staff S1", outcome: "rejected", code: `rejected.${code}` },
      ]);
      cures.add((await company.open())[0]?.reason ?? "");
      expect(await company.run(), code).toEqual(nothing);
    }
    expect(cures.size).toBe(codes.length);
    expect(company.sandbox.state()).toMatchObject({ assignments: 0 });
  });
});

describe("a revoke that was refused", { tags: "long" }, () => {
  it("is tried again when the person is gone from the CRM: that is a change of the record too", async () => {
    const people = [person("S1", { holds: ["A1"] }), person("S2", { holds: ["A2"] }), person("S3", { customer: "C2" })];
    const company = await Company.settled({ ...twoCustomers, staff: people });
    company.export({ staff: [person("S1"), ...people.slice(1)] });
    company.fault({ operation: "M9", fault: "status299", code: "60023", times: 1 });
    expect(await company.run()).toEqual({ exit: 3, adds: true, calls: { M9: 1 } });
    expect(await company.open()).toMatchObject([{ record: "staff S1", outcome: "rejected", code: "rejected.60023" }]);
    expect(await company.run()).toEqual(nothing);
    company.export({ staff: people.slice(1) });
    let revoked = 0;
    for (let run = 0; run < 4; run += 1) revoked += (await company.run()).calls["M9"] ?? 0;
    expect(revoked).toBe(1);
    expect(await company.open()).toEqual([expect.objectContaining({ record: "staff S1", code: "policy.reported" })]);
    expect(company.sandbox.state()).toMatchObject({ assignments: 1 });
  });
});

describe("what a service refuses as a whole", { tags: "long" }, () => {
  it("is no record's fault: one call tells, nothing more is sent to that service in the run, and the rest goes on in the next", async () => {
    const company = await Company.open({
      ...twoCustomers,
      staff: [person("S1", { holds: ["A1"] }), person("S2"), person("S3", { customer: "C2" })],
    });
    company.fault({ operation: "M1", fault: "status299", code: "70001", times: 1 });
    const oneAtATime = { CRM_SYNC__concurrency__customers: "1" };
    expect(await company.run(oneAtATime)).toMatchObject({ exit: 3, adds: true, calls: { E2: 2, E5: 1, M1: 1 } });
    const waiting = (record: string, pending: boolean): object => {
      return { record: `staff ${record}`, outcome: "deferred", code: "service.refused", pending };
    };
    // The other customer's people were not sent and go on by themselves; those that were refused wait for somebody's
    // word.
    expect(await company.open()).toMatchObject([waiting("S1", false), waiting("S2", false), waiting("S3", true)]);
    expect(await company.run()).toMatchObject({ adds: true, calls: { M1: 1 } });
    expect(await company.run()).toEqual(nothing);
    expect(await company.resync("C1")).toMatchObject({ exit: 0, calls: { M1: 1, M9: 1 } });
    expect(company.sandbox.state()).toMatchObject({ addedStaff: 3, assignments: 1 });
  });
});

describe("people who are to be sent in parts", { tags: "long" }, () => {
  it("count as not done where the service refuses the application before all parts were sent", async () => {
    const staff = ["S1", "S2", "S3", "S4"].map((id) => person(id, id === "S1" ? { mobile: "no number 77" } : {}));
    const company = await Company.open({ ...twoCustomers, staff });
    // All four and the half with the wrong mobile are refused for its sake; the other half meets a service that lets
    // nobody in.
    company.fault({ operation: "M1", fault: "status299", code: "70001", nth: 3 });
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { M1: 3 } });
    expect((await company.open()).map(({ record, code, pending }) => `${record} ${code} ${pending}`)).toEqual([
      "staff S1 service.refused true",
      "staff S2 service.refused true",
      "staff S3 service.refused false",
      "staff S4 service.refused false",
    ]);
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { M1: 2 } });
    expect((await company.open()).map(({ record, code }) => `${record} ${code}`)).toEqual([
      "staff S1 rejected.10004",
      "staff S3 service.refused",
      "staff S4 service.refused",
    ]);
  });
});

describe("what is not sent because a service gives no turn", { tags: "long" }, () => {
  it("is not done, and every record that waits for it counts until it is", async () => {
    const company = await Company.settled(twoCustomers, "on machine time");
    company.export({
      staff: [...base.staff, person("S7", { customer: "C2" })],
      orders: [...base.orders, secondOrder, { id: "O5", customer: "C1", assets: ["A9"] }],
    });
    // The first call of each service is the only one for a long time.
    const slow = {
      CRM_SYNC__memberCenter__callsPerSecond: "0.001",
      CRM_SYNC__memberCenter__turnTimeoutMs: "50",
      CRM_SYNC__orderService__callsPerSecond: "0.001",
      CRM_SYNC__orderService__turnTimeoutMs: "50",
    };
    expect(await company.run(slow)).toMatchObject({ exit: 7, adds: true });
    expect((await company.open()).map(({ record, code }) => `${record} ${code}`)).toEqual([
      "orders O5 service.not-sent",
      "staff S7 service.unreadable",
    ]);
    expect(await company.run()).toMatchObject({ exit: 0, calls: { E5: 1, M1: 1 } });
    expect(await company.open()).toEqual([]);
  });
});

describe("what is refused of an enterprise", () => {
  it("a change (E4) stops no order and nobody, and is sent again when the record changes", async () => {
    const company = await Company.settled();
    company.export({
      customers: [{ id: "C1", branch: "East" }, secondCustomer],
      orders: [...base.orders, secondOrder],
      staff: [...base.staff, person("S3")],
    });
    company.fault({ operation: "E4", fault: "status299", code: "13004", times: 1 });
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { E4: 1, E5: 1, M1: 1 } });
    expect(await company.open()).toMatchObject([
      { record: "customers C1", outcome: "rejected", code: "rejected.13004" },
    ]);
    expect(await company.run()).toEqual(nothing);
    company.export({ customers: [{ id: "C1", branch: "West" }, secondCustomer] });
    expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { E4: 1 } });
    expect(await company.open()).toEqual([]);
  });

  it(
    "its making (E2) stops what needs it and no other customer; it is made once the record changes",
    { tags: "long" },
    async () => {
      const company = await Company.open();
      company.fault({ operation: "E2", fault: "status299", code: "13004", nth: 1 });
      expect(await company.run({ CRM_SYNC__concurrency__customers: "1" })).toMatchObject({
        exit: 3,
        adds: true,
        calls: { E2: 2 },
      });
      const open = await company.open();
      expect(open[0]).toMatchObject({
        record: "customers C1",
        outcome: "rejected",
        code: "rejected.13004",
        pending: false,
      });
      expect(new Set(open.slice(1).map((row) => row.code))).toEqual(new Set(["customer.blocked"]));
      expect(await company.run()).toEqual(nothing);
      company.export({ customers: [{ id: "C1", branch: "West" }, secondCustomer] });
      expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { E2: 1, E5: 1, M1: 1, M9: 1 } });
      expect(await company.open()).toEqual([]);
    },
  );
});

describe("an order that was refused (E5)", { tags: "long" }, () => {
  const changed = { ...secondOrder, products: secondOrder.products.map((product) => ({ ...product, nodes: 5 })) };

  async function refused(rule: Partial<FaultRule>): Promise<Company> {
    const company = await Company.settled();
    company.export({ orders: [...base.orders, secondOrder], staff: [...base.staff, person("S3", { holds: ["A2"] })] });
    company.fault({ operation: "E5", fault: "status299", code: "13004", times: 1, ...rule });
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { E5: 1, M1: 1, M9: 1 } });
    expect(await company.open()).toMatchObject([
      { record: "orders O2", outcome: "rejected", code: "rejected.13004", pending: false },
    ]);
    expect(await company.run()).toEqual(nothing);
    return company;
  }

  it("is looked for before it is sent again, keeps its numbers, and is placed once where nothing shows", async () => {
    const company = await refused({});
    const numbers = await numbersOf(company.w);
    const before = company.sandbox.counts().calls;
    company.export({ orders: [...base.orders, changed] });
    expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { E5: 1 } });
    const after = company.sandbox.counts().calls;
    expect((after["E8"] ?? 0) - (before["E8"] ?? 0), "the assets were read").toBe(1);
    expect(await numbersOf(company.w)).toEqual(numbers);
    expect(company.sandbox.batches("O2")).toHaveLength(1);
    expect(await company.open()).toEqual([]);
  });

  it("waits for a person where something of it shows, whatever the record says now", async () => {
    const company = await refused({ applied: true });
    company.export({ orders: [...base.orders, changed] });
    expect(await company.run()).toEqual({ exit: 5, adds: true, calls: {} });
    expect(await company.isParked()).toBe(true);
    expect(await company.run()).toEqual({ exit: 5, adds: true, calls: {} });
    expect(company.sandbox.batches("O2")).toHaveLength(1);
  });

  it("waits for a person where something of it shows and the CRM does not want it any more", async () => {
    const company = await refused({ applied: true });
    company.export({ orders: base.orders, staff: base.staff });
    let exit = 0;
    for (let run = 0; run < 4; run += 1) ({ exit } = await company.run());
    expect(exit).toBe(5);
    expect(await company.isParked()).toBe(true);
  });

  it("waits for a person where somebody placed it by another way meanwhile, under numbers that are not its own", async () => {
    const company = await refused({});
    const byHand = { CRM_SYNC__ledger__path: "by-hand.db" };
    expect(await company.run(byHand)).toMatchObject({ calls: { E5: 1 } });
    company.export({ orders: [...base.orders, changed] });
    expect(await company.run()).toEqual({ exit: 5, adds: true, calls: {} });
    expect(await company.isParked()).toBe(true);
    expect(company.sandbox.batches("O2")).toHaveLength(1);
  });
});

describe("what is refused of a person at the customer that they left", { tags: "long" }, () => {
  it("stays refused whatever goes through where they are now, and is sent again when their record changes", async () => {
    const company = await Company.settled({ ...twoCustomers, staff: [person("S1", { holds: ["A1"] })] });
    company.fault({ operation: "M9", fault: "status299", code: "60025", times: 1 });
    const moved = { customer: "C2", holds: [] };
    company.export({ staff: [person("S1", moved)] });
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { M1: 1, M9: 1 } });
    expect(await company.run()).toEqual(nothing);
    expect(await company.open()).toMatchObject([{ record: "customers C1", code: "rejected.60025" }]);
    company.export({ staff: [person("S1", { ...moved, name: `${canary.person} 2` })] });
    expect(await company.run()).toEqual({ exit: 0, adds: true, calls: { M2: 1, M9: 1 } });
    expect(company.sandbox.state()).toMatchObject({ assignments: 0 });
  });
});

describe("what is lost each time", { tags: "long" }, () => {
  it.each([
    ["an order (E5)", "E5"],
    ["an enterprise (E2)", "E2"],
    ["a person (M1)", "M1"],
  ])("%s is sent three times in all, over all runs, and then waits for a person", async (_what, endpoint) => {
    const company = await Company.settled();
    company.export({
      customers: [...twoCustomers.customers, ...(endpoint === "E2" ? [{ id: "C3" }] : [])],
      orders: [...base.orders, ...(endpoint === "E5" ? [secondOrder] : [])],
      staff: [...base.staff, ...(endpoint === "M1" ? [person("S3")] : [])],
    });
    company.fault({ operation: endpoint === "E5" ? "E5" : endpoint === "E2" ? "E2" : "M1", fault: "resetBefore" });
    let sent = 0;
    for (let run = 0; run < 4; run += 1) sent += (await company.run()).calls[endpoint] ?? 0;
    expect(sent).toBe(3);
    expect((await unsettled(company.w)).map(({ state }) => state)).toEqual(["parked"]);
  });
});
