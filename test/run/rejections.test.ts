import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { openSandbox } from "../support/world/start.ts";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { crmSync, runJob, runResultOf } from "../support/program.ts";
import type { Ended } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { putNewLedger } from "../support/new-ledger.ts";
import {
  base,
  configOf,
  ledgerOf,
  platformOf,
  secondCustomer,
  secondOrder,
  writeWorld,
} from "../support/world/small.ts";
import { sealEnvironment } from "../support/world/crm.ts";
import type { GivenStaff } from "../support/world/crm.ts";
import type { SmallWorld } from "../support/world/small.ts";

const folder = temporaryFolder();
let cells = 0;
afterAll(() => folder.remove());

/** Two customers: the one of the small world, and one without orders and people. */
const twoCustomers: SmallWorld = { ...base, customers: [...base.customers, secondCustomer] };

function person(id: string, fields: Partial<GivenStaff> = {}): GivenStaff {
  return { customer: "C1", ...fields, id };
}

interface RecordRow {
  record: string;
  outcome: string;
  code: string;
  reason: string;
  pending: number;
}
const recordRow = z.object({
  record: z.string(),
  outcome: z.string(),
  code: z.string(),
  reason: z.string(),
  pending: z.int(),
});

/** One ledger and one platform over several runs. */
class Company {
  readonly #path: string;
  readonly sandbox: Sandbox;
  world: SmallWorld;

  private constructor(path: string, sandbox: Sandbox, world: SmallWorld) {
    this.#path = path;
    this.sandbox = sandbox;
    this.world = world;
  }

  static async open(world: SmallWorld = twoCustomers): Promise<Company> {
    cells += 1;
    const path = join(folder.path, `company-${cells}`);
    writeWorld(path, world);
    putNewLedger(ledgerOf(path));
    const sandbox = await openSandbox({ store: platformOf(path) });
    return new Company(path, sandbox, world);
  }

  /** With everything of the world done. */
  static async settled(world: SmallWorld = twoCustomers): Promise<Company> {
    const company = await Company.open(world);
    const { exit } = await company.run();
    if (exit !== 0) throw new Error(`the first run ended with ${exit}`);
    return company;
  }

  export(next: Partial<SmallWorld>): void {
    this.world = { ...this.world, ...next };
    writeWorld(this.#path, this.world);
  }

  fault(rule: FaultRule): void {
    this.sandbox.faults.add(rule);
  }

  async run(environment: Record<string, string> = {}) {
    return await this.#counted(() => runJob(this.#options(environment)));
  }

  async resync(customer: string) {
    return await this.#counted(() => crmSync(this.#options({}), "--json", "resync", "--customer", customer));
  }

  async #counted(work: () => Promise<Ended>) {
    const before = this.sandbox.counts().calls;
    const result = runResultOf(await work());
    const after = this.sandbox.counts().calls;
    const calls: Record<string, number> = {};
    for (const endpoint of ["E2", "E4", "E5", "M1", "M9"]) {
      const made = (after[endpoint] ?? 0) - (before[endpoint] ?? 0);
      if (made > 0) calls[endpoint] = made;
    }
    return { exit: result.exit, adds: result.balance.adds, calls };
  }

  #options(environment: Record<string, string>) {
    return {
      config: configOf(this.#path),
      sandbox: this.sandbox.url,
      ledger: ledgerOf(this.#path),
      environment: { ...sealEnvironment, ...environment },
    };
  }

  /** The records that are not done. */
  get open(): RecordRow[] {
    return this.#rows(
      recordRow,
      `select stream || ' ' || id as record, outcome, deferred_code as code, deferred_reason as reason, pending from record
       where deferred_code is not null order by stream, id`,
    );
  }

  get numbers(): string[] {
    return this.#rows(
      z.object({ unit: z.string() }),
      "select order_id || instance_id || unit || wire_number as unit from asset_number where fixed_at is not null order by 1",
    ).map((row) => row.unit);
  }

  states(endpoint: string): string[] {
    return this.#rows(
      z.object({ state: z.string() }),
      `select state from operation where endpoint = '${endpoint}' order by created_at, id`,
    ).map((row) => row.state);
  }

  #rows<Row>(schema: z.ZodType<Row>, sql: string): Row[] {
    const view = new LedgerView(ledgerOf(this.#path));
    try {
      return view.rows(schema, sql);
    } finally {
      view.close();
    }
  }
}

/** Nothing is sent again, and the run says that not all is done. */
const nothing = { exit: 3, adds: true, calls: {} };

describe("an M1 that is refused for one person's sake", () => {
  it(
    "is split until that one is alone; all others are added and served, and only that record waits for a correction",
    { tags: "long" },
    async () => {
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
      const [wrong, ...others] = company.open;
      expect(others).toEqual([]);
      expect(wrong).toMatchObject({ record: "staff P15", outcome: "rejected", code: "rejected.10004", pending: 0 });
      expect(wrong?.reason).toMatch(/field mobile of staff crm\/P15.*Correct the mobile number in the CRM/u);
      expect(wrong?.reason).not.toContain("no number 77");

      // A later hire is added without the one at fault, who is not sent again.
      company.export({ staff: [...people, person("P30", { holds: ["A2"] })] });
      expect(await company.run()).toMatchObject({ adds: true, calls: { M1: 1, M9: 1 } });
      expect(company.open).toHaveLength(1);
      expect(await company.run()).toEqual(nothing);

      company.export({ staff: company.world.staff.map((row) => (row.id === "P15" ? person("P15") : row)) });
      expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { M1: 1 } });
      expect(company.open).toEqual([]);
      expect(company.sandbox.state()).toMatchObject({ addedStaff: 14, assignments: 2 });
    },
  );

  it(
    "that adds some and refuses one (60027) sends the one again in later runs: such a row has words and no code, and may pass",
    { tags: "long" },
    async () => {
      const company = await Company.open();
      company.fault({ operation: "M1", fault: "partialM1", drop: 1, times: 2 });
      expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { M1: 1, M9: 1 } });
      const refused = [{ record: "staff S2", outcome: "rejected", code: "staff.refused", pending: 0 }];
      expect(company.open).toMatchObject(refused);
      expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { M1: 1 } });
      expect(company.open).toMatchObject(refused);
      expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { M1: 1 } });
      expect(company.open).toEqual([]);
    },
  );

  it(
    "that refuses the same one each time (60027) sends that one three times in all, and the others once",
    { tags: "long" },
    async () => {
      const company = await Company.open();
      company.fault({ operation: "M1", fault: "partialM1", drop: 1, times: 5 });
      const once = { exit: 3, adds: true, calls: { M1: 1 } };
      for (let run = 0; run < 3; run += 1) expect(await company.run(), `run ${run + 1}`).toMatchObject(once);
      expect(await company.run()).toEqual(nothing);
      expect(company.open).toMatchObject([{ record: "staff S2", outcome: "rejected", code: "staff.refused" }]);
      // Somebody's word begins the count anew.
      expect(await company.resync("C1")).toMatchObject(once);
      expect(await company.run()).toMatchObject(once);
      expect(await company.run()).toMatchObject({ exit: 0, calls: { M1: 1 } });
      expect(await company.run()).toEqual({ exit: 0, adds: true, calls: {} });
      expect(company.sandbox.state()).toMatchObject({ addedStaff: 2 });
    },
  );
});

describe("an M9 that is refused", () => {
  const codes = ["60023", "60024", "60025", "60026", "60028"];

  it(
    "stops this person alone: leavers lose, later hires get, orders are placed; it is tried again for a setting or a person",
    { tags: "long" },
    async () => {
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
      expect(company.open).toMatchObject([
        { record: "staff S2", outcome: "rejected", code: "rejected.60023", pending: 0 },
      ]);
      expect(company.sandbox.state()).toMatchObject({ assignments: 1, addedStaff: 3 });
      expect(await company.run()).toEqual(nothing);

      company.fault({ operation: "M9", fault: "status299", code: "60023", times: 2 });
      const otherSetting = { CRM_SYNC__assumptions__poolBatch: "2" };
      expect(await company.run(otherSetting)).toMatchObject({ exit: 3, adds: true, calls: { M9: 1 } });
      expect(await company.run(otherSetting)).toEqual(nothing);
      expect(await company.resync("C1")).toMatchObject({ exit: 3, adds: true, calls: { M9: 1 } });
      expect(await company.resync("C1")).toMatchObject({ exit: 0, adds: true, calls: { M9: 1 } });
      expect(company.open).toEqual([]);
      expect(company.sandbox.state()).toMatchObject({ assignments: 2 });
    },
  );

  it(
    "says for each code something else to do, and is not sent again by itself with any of them",
    { tags: "long" },
    async () => {
      const cures = new Set<string>();
      const company = await Company.settled({ ...twoCustomers, staff: [person("S1"), person("S2")] });
      for (const [index, code] of codes.entries()) {
        company.export({
          staff: [person("S1", { holds: [`A${1 + (index % 2)}`], mobile: `+49151${index}` }), person("S2")],
        });
        company.fault({ operation: "M9", fault: "status299", code, times: 1 });
        expect(await company.run(), code).toMatchObject({ exit: 3, adds: true, calls: { M9: 1 } });
        expect(company.open, code).toMatchObject([
          { record: "staff S1", outcome: "rejected", code: `rejected.${code}` },
        ]);
        cures.add(company.open[0]?.reason ?? "");
        expect(await company.run(), code).toEqual(nothing);
      }
      expect(cures.size).toBe(codes.length);
      expect(company.sandbox.state()).toMatchObject({ assignments: 0 });
    },
  );
});

describe("a revoke that was refused", () => {
  it(
    "is tried again when the person is gone from the CRM: that is a change of the record too",
    { tags: "long" },
    async () => {
      const people = [
        person("S1", { holds: ["A1"] }),
        person("S2", { holds: ["A2"] }),
        person("S3", { customer: "C2" }),
      ];
      const company = await Company.settled({ ...twoCustomers, staff: people });
      company.export({ staff: [person("S1"), ...people.slice(1)] });
      company.fault({ operation: "M9", fault: "status299", code: "60023", times: 1 });
      expect(await company.run()).toEqual({ exit: 3, adds: true, calls: { M9: 1 } });
      expect(company.open).toMatchObject([{ record: "staff S1", outcome: "rejected", code: "rejected.60023" }]);
      expect(await company.run()).toEqual(nothing);
      company.export({ staff: people.slice(1) });
      let revoked = 0;
      for (let run = 0; run < 4; run += 1) revoked += (await company.run()).calls["M9"] ?? 0;
      expect(revoked).toBe(1);
      expect(company.open).toEqual([expect.objectContaining({ record: "staff S1", code: "policy.reported" })]);
      expect(company.sandbox.state()).toMatchObject({ assignments: 1 });
    },
  );
});

describe("what a service refuses as a whole", () => {
  it(
    "is no record's fault: one call tells, nothing more is sent to that service in the run, and the rest goes on in the next",
    { tags: "long" },
    async () => {
      const company = await Company.open({
        ...twoCustomers,
        staff: [person("S1", { holds: ["A1"] }), person("S2"), person("S3", { customer: "C2" })],
      });
      company.fault({ operation: "M1", fault: "status299", code: "70001", times: 1 });
      const oneAtATime = { CRM_SYNC__concurrency__customers: "1" };
      expect(await company.run(oneAtATime)).toMatchObject({ exit: 3, adds: true, calls: { E2: 2, E5: 1, M1: 1 } });
      const waiting = (record: string, pending: number): object => {
        return { record: `staff ${record}`, outcome: "deferred", code: "service.refused", pending };
      };
      // The other customer's people were not sent and go on by themselves; those that were refused wait for somebody's
      // word.
      expect(company.open).toMatchObject([waiting("S1", 0), waiting("S2", 0), waiting("S3", 1)]);
      expect(await company.run()).toMatchObject({ adds: true, calls: { M1: 1 } });
      expect(await company.run()).toEqual(nothing);
      expect(await company.resync("C1")).toMatchObject({ exit: 0, calls: { M1: 1, M9: 1 } });
      expect(company.sandbox.state()).toMatchObject({ addedStaff: 3, assignments: 1 });
    },
  );
});

describe("people who are to be sent in parts", () => {
  it("count as not done where the service refuses the application before all parts were sent", async () => {
    const staff = ["S1", "S2", "S3", "S4"].map((id) => person(id, id === "S1" ? { mobile: "no number 77" } : {}));
    const company = await Company.open({ ...twoCustomers, staff });
    // All four and the half with the wrong mobile are refused for its sake; the other half meets a service that lets
    // nobody in.
    company.fault({ operation: "M1", fault: "status299", code: "70001", nth: 3 });
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { M1: 3 } });
    expect(company.open.map(({ record, code, pending }) => `${record} ${code} ${pending}`)).toEqual([
      "staff S1 service.refused 1",
      "staff S2 service.refused 1",
      "staff S3 service.refused 0",
      "staff S4 service.refused 0",
    ]);
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { M1: 2 } });
    expect(company.open.map(({ record, code }) => `${record} ${code}`)).toEqual([
      "staff S1 rejected.10004",
      "staff S3 service.refused",
      "staff S4 service.refused",
    ]);
  });
});

describe("what is not sent because a service gives no turn", () => {
  it("is not done, and every record that waits for it counts until it is", { tags: "long" }, async () => {
    const company = await Company.settled();
    company.export({ staff: [...base.staff, person("S7", { customer: "C2" })], orders: [...base.orders, secondOrder] });
    // The first call of each service is the only one for a long time.
    const slow = {
      CRM_SYNC__memberCenter__callsPerSecond: "0.001",
      CRM_SYNC__memberCenter__turnTimeoutMs: "50",
      CRM_SYNC__orderService__callsPerSecond: "0.001",
      CRM_SYNC__orderService__turnTimeoutMs: "50",
    };
    expect(await company.run(slow)).toMatchObject({ exit: 7, adds: true });
    expect(company.open.map(({ record, code }) => `${record} ${code}`)).toEqual([
      "orders O2 service.not-sent",
      "staff S7 service.unreadable",
    ]);
    expect(await company.run()).toMatchObject({ exit: 0, calls: { E5: 1, M1: 1 } });
    expect(company.open).toEqual([]);
  });
});

describe("what is refused of an enterprise", () => {
  it(
    "a change (E4) stops no order and nobody, and is sent again when the record changes",
    { tags: "long" },
    async () => {
      const company = await Company.settled();
      company.export({
        customers: [{ id: "C1", branch: "East" }, secondCustomer],
        orders: [...base.orders, secondOrder],
        staff: [...base.staff, person("S3")],
      });
      company.fault({ operation: "E4", fault: "status299", code: "13004", times: 1 });
      expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { E4: 1, E5: 1, M1: 1 } });
      expect(company.open).toMatchObject([{ record: "customers C1", outcome: "rejected", code: "rejected.13004" }]);
      expect(await company.run()).toEqual(nothing);
      company.export({ customers: [{ id: "C1", branch: "West" }, secondCustomer] });
      expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { E4: 1 } });
      expect(company.open).toEqual([]);
    },
  );

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
      const open = company.open;
      expect(open[0]).toMatchObject({
        record: "customers C1",
        outcome: "rejected",
        code: "rejected.13004",
        pending: 0,
      });
      expect(new Set(open.slice(1).map((row) => row.code))).toEqual(new Set(["customer.blocked"]));
      expect(await company.run()).toEqual(nothing);
      company.export({ customers: [{ id: "C1", branch: "West" }, secondCustomer] });
      expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { E2: 1, E5: 1, M1: 1, M9: 1 } });
      expect(company.open).toEqual([]);
    },
  );
});

describe("an order that was refused (E5)", () => {
  const changed = { ...secondOrder, products: secondOrder.products.map((product) => ({ ...product, nodes: 5 })) };

  async function refused(rule: Partial<FaultRule>): Promise<Company> {
    const company = await Company.settled();
    company.export({ orders: [...base.orders, secondOrder], staff: [...base.staff, person("S3", { holds: ["A2"] })] });
    company.fault({ operation: "E5", fault: "status299", code: "13004", times: 1, ...rule });
    expect(await company.run()).toMatchObject({ exit: 3, adds: true, calls: { E5: 1, M1: 1, M9: 1 } });
    expect(company.open).toMatchObject([
      { record: "orders O2", outcome: "rejected", code: "rejected.13004", pending: 0 },
    ]);
    expect(await company.run()).toEqual(nothing);
    await systemClock.sleep(200);
    return company;
  }

  it(
    "is looked for before it is sent again, keeps its numbers, and is placed once where nothing shows",
    { tags: "long" },
    async () => {
      const company = await refused({});
      const { numbers } = company;
      const before = company.sandbox.counts().calls;
      company.export({ orders: [...base.orders, changed] });
      expect(await company.run()).toMatchObject({ exit: 0, adds: true, calls: { E5: 1 } });
      const after = company.sandbox.counts().calls;
      expect((after["E8"] ?? 0) - (before["E8"] ?? 0), "the assets were read").toBe(1);
      expect(company.numbers).toEqual(numbers);
      expect(company.sandbox.batches("O2")).toHaveLength(1);
      expect(company.open).toEqual([]);
    },
  );

  it("waits for a person where something of it shows, whatever the record says now", { tags: "long" }, async () => {
    const company = await refused({ applied: true });
    company.export({ orders: [...base.orders, changed] });
    expect(await company.run()).toEqual({ exit: 5, adds: true, calls: {} });
    expect(company.states("E5")).toContain("parked");
    expect(await company.run()).toEqual({ exit: 5, adds: true, calls: {} });
    expect(company.sandbox.batches("O2")).toHaveLength(1);
  });

  it(
    "waits for a person where something of it shows and the CRM does not want it any more",
    { tags: "long" },
    async () => {
      const company = await refused({ applied: true });
      company.export({ orders: base.orders, staff: base.staff });
      let exit = 0;
      for (let run = 0; run < 4; run += 1) ({ exit } = await company.run());
      expect(exit).toBe(5);
      expect(company.states("E5")).toContain("parked");
    },
  );

  it(
    "waits for a person where somebody placed it by another way meanwhile, under numbers that are not its own",
    { tags: "long" },
    async () => {
      const company = await refused({});
      const byHand = { CRM_SYNC__ledger__path: join(folder.path, `by-hand-${cells}.db`) };
      expect(await company.run(byHand)).toMatchObject({ calls: { E5: 1 } });
      company.export({ orders: [...base.orders, changed] });
      expect(await company.run()).toEqual({ exit: 5, adds: true, calls: {} });
      expect(company.states("E5")).toContain("parked");
      expect(company.sandbox.batches("O2")).toHaveLength(1);
    },
  );
});

describe("what is lost each time", () => {
  it.each([
    ["an order (E5)", "E5"],
    ["an enterprise (E2)", "E2"],
    ["a person (M1)", "M1"],
  ])(
    "%s is sent three times in all, over all runs, and then waits for a person",
    { tags: "long" },
    async (_what, endpoint) => {
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
      expect(company.states(endpoint).filter((state) => state === "parked")).toHaveLength(1);
    },
  );
});
