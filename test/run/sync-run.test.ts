import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import { operation } from "../../src/operation/new-operation.ts";
import { newSandbox, openSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { crmSync, goodRunOf, runJob, runResultOf } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { temporaryFolder } from "../support/northwind.ts";
import {
  changes,
  configOf,
  continueWorld,
  ledgerOf,
  platformOf,
  secondCustomer,
  secondOrder,
  writeWorld,
} from "../support/world/small.ts";
import { canary, sealEnvironment } from "../support/world/crm.ts";
import type { SmallWorld } from "../support/world/small.ts";

const folder = temporaryFolder();
const base = join(folder.path, "base");
/** Both assets are held by the first of two people. */
const { world } = changes["M9 grants an asset"] ?? { world: undefined };
let cells = 0;

/** One ledger and one platform, from the same beginning in each test: everything of `world` is done. */
class Company {
  readonly path: string;
  readonly sandbox: Sandbox;
  world: SmallWorld;

  private constructor(path: string, sandbox: Sandbox, from: SmallWorld) {
    this.path = path;
    this.sandbox = sandbox;
    this.world = from;
  }

  static async open(): Promise<Company> {
    if (world === undefined) throw new Error("the small world has no grant");
    cells += 1;
    const path = join(folder.path, `company-${cells}`);
    continueWorld(base, path, world);
    const sandbox = await openSandbox({ store: platformOf(path) });
    return new Company(path, sandbox, world);
  }

  /** A new export in which the first person holds these assets. */
  holds(...assets: string[]): void {
    const staff = this.world.staff.map((row) => (row.id === "S1" ? { ...row, holds: assets } : row));
    this.export({ ...this.world, staff });
  }

  export(next: SmallWorld): void {
    this.world = next;
    writeWorld(this.path, next);
  }

  /** One run: how it ended, whether it balances, and the writing calls that it made. */
  async run(environment: Record<string, string> = {}) {
    const before = this.sandbox.counts().calls;
    const result = runResultOf(await runJob(this.options(environment)));
    const after = this.sandbox.counts().calls;
    const calls: Record<string, number> = {};
    for (const endpoint of ["E2", "E4", "E5", "E9", "M1", "M9"]) {
      const made = (after[endpoint] ?? 0) - (before[endpoint] ?? 0);
      if (made > 0) calls[endpoint] = made;
    }
    return { exit: result.exit, adds: result.balance.adds, calls };
  }

  options(environment: Record<string, string> = {}) {
    return {
      config: configOf(this.path),
      sandbox: this.sandbox.url,
      ledger: ledgerOf(this.path),
      environment: { ...sealEnvironment, ...environment },
    };
  }

  /** The ledger, as another program opens it beside a run. */
  async ledger<T>(work: (ledger: Ledger) => Promise<T>): Promise<T> {
    const ledger = await Ledger.open({
      path: ledgerOf(this.path),
      clock: systemClock,
      ids: createIds(() => systemClock.now(), systemRandomness),
      random: systemRandomness,
      sealSecret: canary.seal,
    });
    try {
      return await work(ledger);
    } finally {
      ledger.close();
    }
  }

  column(sql: string): string[] {
    const view = new LedgerView(ledgerOf(this.path));
    try {
      return view.rows(z.looseObject({ value: z.string() }), sql).map((row) => row.value);
    } finally {
      view.close();
    }
  }
}

beforeAll(async () => {
  if (world !== undefined) writeWorld(base, world);
  const sandbox = await newSandbox({ store: platformOf(base) });
  goodRunOf(
    await runJob({
      config: configOf(base),
      sandbox: sandbox.url,
      ledger: ledgerOf(base),
      environment: sealEnvironment,
    }),
  );
  await sandbox.close();
});
afterAll(() => folder.remove());

/** A run that ended so, with a balance that adds up, after exactly these writing calls. */
function ended(exit: number, calls: Record<string, number>) {
  return { exit, adds: true, calls };
}

/** Nothing may be taken away without a person's word. */
const nothingFree = {
  CRM_SYNC__limits__revokes__enterprise__floor: "0",
  CRM_SYNC__limits__revokes__enterprise__share: "0",
};

describe("what takes something away", () => {
  it("is judged before the first of it is sent, and held whole beyond the limit", async () => {
    const company = await Company.open();
    company.holds("A1");
    expect(await company.run(nothingFree)).toEqual(ended(4, {}));
    expect(company.column("select state as value from operation where takes_away > 0")).toEqual(["held"]);
    expect(company.sandbox.state().assignments).toBe(2);
  });

  it("is carried out once a person approved this very set, and no other", { tags: "long" }, async () => {
    const company = await Company.open();
    const approve = async (): Promise<void> =>
      await company.ledger(async (ledger) => {
        const [hold] = await ledger.approvals.standing();
        await ledger.approvals.decide(hold?.id ?? "", "approved", "she left the team");
      });
    company.holds("A1");
    expect(await company.run(nothingFree)).toEqual(ended(4, {}));
    await approve();
    company.holds();
    expect(await company.run(nothingFree)).toEqual(ended(4, {}));
    await approve();
    expect(await company.run(nothingFree)).toEqual(ended(0, { M9: 1 }));
    company.holds("A1", "A2");
    expect(await company.run(nothingFree)).toEqual(ended(0, { M9: 1 }));
    company.holds();
    // An approval holds once.
    expect(await company.run(nothingFree)).toEqual(ended(4, {}));
    expect(company.sandbox.state().assignments).toBe(2);
  });
});

describe("what would be taken away of a customer that a run waits for", () => {
  const holds = (company: Company, wishes: Readonly<Record<string, string[]>>): void => {
    const staff = company.world.staff.map((row) => ({ ...row, holds: wishes[row.id] ?? row.holds ?? [] }));
    company.export({ ...company.world, staff });
  };

  /** Two customers, each with one person who holds two assets, and a third asset that nobody holds. */
  async function twoCustomers(): Promise<Company> {
    const company = await Company.open();
    company.export({
      customers: [...company.world.customers, secondCustomer],
      orders: [...company.world.orders, { id: "O9", customer: "C2", assets: ["A7", "A8", "A9"] }],
      staff: [...company.world.staff, { id: "S9", customer: "C2", holds: ["A8", "A9"] }],
    });
    expect((await company.run()).exit).toBe(0);
    expect(company.sandbox.state().assignments).toBe(4);
    return company;
  }

  const inAll = (floor: string) => ({
    CRM_SYNC__limits__revokes__run__floor: floor,
    CRM_SYNC__limits__revokes__run__share: "0",
  });

  it("after it was released is carried out in the same run", { tags: "long" }, async () => {
    const company = await twoCustomers();
    const [first] = company.world.customers;
    company.export({ ...company.world, customers: first === undefined ? [] : [first, { id: "C2", branch: "East" }] });
    holds(company, { S1: ["A1"], S9: ["A8"] });
    company.sandbox.faults.add({ operation: "E4", fault: "appliedNoReply", times: 1 });
    expect(await company.run(inAll("2"))).toEqual(ended(0, { E4: 2, M9: 2 }));
    expect(company.sandbox.state().assignments).toBe(2);
  });

  it.each([
    ["is carried out in the same run", "2", 0, 2],
    ["is held where it is beyond the limit together with what the run took away before", "1", 4, 3],
  ])("before anything was judged %s", { tags: "long" }, async (_, floor, exit, left) => {
    const company = await twoCustomers();
    holds(company, { S9: ["A7", "A8", "A9"] });
    company.sandbox.faults.add({ operation: "M9", fault: "resetBefore", times: 1 });
    // The second customer still waits when the first is judged, also on a machine that has much else to do.
    const slow = { CRM_SYNC__settle__timeMs: "5000" };
    expect((await company.run({ ...slow, CRM_SYNC__settle__maxWaitMs: "0" })).calls).toEqual({ M9: 1 });
    holds(company, { S1: ["A1"], S9: ["A8"] });
    expect(await company.run({ ...slow, ...inAll(floor) })).toEqual(ended(exit, { M9: 4 - left }));
    expect(company.sandbox.state().assignments).toBe(left);
    expect(company.column("select customer_id as value from hold where state = 'open'")).toEqual(
      exit === 0 ? [] : ["C2"],
    );
  });
});

describe("an operation that waits for a person", () => {
  it("blocks everything else of its customer, and of no other", { tags: "long" }, async () => {
    const company = await Company.open();
    const ask = { CRM_SYNC__orders__unseen: "ask" };
    company.export({ ...company.world, orders: [...company.world.orders, secondOrder] });
    company.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
    expect(await company.run(ask)).toEqual(ended(5, { E9: 1, E5: 1 }));
    expect(company.column("select state as value from operation where endpoint = 'E5' order by id")).toEqual([
      "done",
      "parked",
    ]);
    company.export({ ...company.world, customers: [{ id: "C1", branch: "East" }, secondCustomer] });
    expect(await company.run(ask)).toEqual(ended(5, { E2: 1 }));
  });
});

describe("a change (E4) that may still land", () => {
  it(
    "keeps another value of the same customer waiting for the settle time, and no longer",
    { tags: "long" },
    async () => {
      const company = await Company.open();
      const [customer] = company.world.customers;
      const branch = (name: string): void =>
        company.export({ ...company.world, customers: [{ ...customer, id: "C1", branch: name }] });
      const patient = { CRM_SYNC__settle__timeMs: "600000" };
      branch("East");
      company.sandbox.faults.add({ operation: "E4", fault: "appliedNoReply", times: 1 });
      // The same value is sent again at once.
      expect(await company.run(patient)).toEqual(ended(0, { E4: 2 }));
      branch("West");
      expect(await company.run(patient)).toEqual(ended(3, {}));
      expect(company.column("select deferred_code as value from record where stream = 'customers'")).toEqual([
        "settle-time",
      ]);
      expect(await company.run({ CRM_SYNC__settle__timeMs: "1" })).toEqual(ended(0, { E4: 1 }));
    },
  );
});

describe("a source", () => {
  const states = "select state as value from record where stream = 'staff' order by id";

  it("that broke off takes nothing away, however often it is read", { tags: "long" }, async () => {
    const company = await Company.open();
    company.holds();
    const path = join(company.path, "staff.ndjson");
    writeFileSync(path, readFileSync(path, "utf8").slice(0, -20));
    for (let reading = 0; reading < 4; reading += 1) expect(await company.run()).toEqual(ended(7, {}));
    expect(company.column(states)).toEqual(["current", "current"]);
    expect(company.sandbox.state().assignments).toBe(2);
  });

  it("that shrank takes nothing away, however often it is read", async () => {
    const company = await Company.open();
    company.export({ ...company.world, staff: [] });
    for (let reading = 0; reading < 4; reading += 1) expect(await company.run()).toEqual(ended(7, {}));
    expect(company.column(states)).toEqual(["current", "current"]);
    expect(company.sandbox.state().assignments).toBe(2);
  });
});

describe("a customer", () => {
  it("whose enterprise, orders and people are on the platform already gets none of them a second time", async () => {
    const company = await Company.open();
    for (const name of readdirSync(company.path).filter((file) => file.startsWith("ledger.db")))
      rmSync(join(company.path, name));
    // Nothing reads the branch and the address of an adopted enterprise back, so they are sent.
    expect(await company.run()).toEqual(ended(3, { E4: 1 }));
    expect(company.column("select origin as value from placed_order")).toEqual(["adopted"]);
    expect(company.sandbox.state()).toMatchObject({
      enterprises: 1,
      orders: { O1: { calls: 1, licenseOrders: 2 } },
      addedStaff: 2,
      assignments: 2,
    });
  });

  it("that cannot be looked at stops no other", { tags: "long" }, async () => {
    const company = await Company.open();
    company.holds("A1");
    company.export({ ...company.world, customers: [...company.world.customers, secondCustomer] });
    company.sandbox.faults.add({ operation: "M5", fault: "code500" });
    expect(await company.run()).toEqual(ended(7, { E2: 1 }));
    expect(company.column("select deferred_code as value from record where deferred_code is not null")).toEqual([
      "service.unreadable",
    ]);
  });

  it("that a run was not asked for is left to the next one, with a reason", async () => {
    const company = await Company.open();
    company.export({ ...company.world, customers: [...company.world.customers, secondCustomer] });
    const run = runResultOf(await crmSync(company.options(), "--json", "resync", "--customer", "C1"));
    expect(run).toMatchObject({ writingCalls: 0, balance: { adds: true } });
    expect(company.column("select deferred_code as value from record where id = 'C2'")).toEqual(["run.scope"]);
    expect(await company.run()).toEqual(ended(0, { E2: 1 }));
  });
});

describe("a run whose process died", () => {
  it("is ended by the next one, which names what was in doubt", async () => {
    const company = await Company.open();
    const lost = await company.ledger(
      async (ledger) =>
        await ledger.runs.start({ job: "everything", kind: "sync", trigger: "hand", scope: null, header: {} }),
    );
    expect(await company.run()).toEqual(ended(0, {}));
    expect(company.column(`select state as value from run where id = '${lost}'`)).toEqual(["interrupted"]);
  });

  it("leaves what it was sending in doubt, also where the next run works on another customer", async () => {
    const company = await Company.open();
    const customer = { namespace: "crm", id: "C9" };
    const id = await company.ledger(
      async (ledger) =>
        await ledger.journal.intend({
          operation: operation("create-enterprise", {
            customer,
            subject: "customer:crm/C9",
            records: [{ stream: "customers", ...customer }],
            target: { channelCustomerId: "C9" },
            payload: { crmCustomerId: "C9", branchName: "b" },
            reason: "new",
            before: null,
            after: { name: "n", branchName: "b", address: null },
          }),
          runId: null,
          wireHash: "0",
          nonce: "0",
          context: {
            channelCodes: ["crm"],
            channelCustomerId: "C9",
            correlation: "c",
            acknowledged: { name: "n", branchName: "b", address: null },
          },
        }),
    );
    const run = runResultOf(await crmSync(company.options(), "--json", "resync", "--customer", "C1"));
    expect(run.balance).toMatchObject({ adds: true, operations: { carriedIn: 1, unknown: 1 } });
    expect(company.column(`select state as value from operation where id = '${id}'`)).toEqual(["unknown"]);
  });
});
