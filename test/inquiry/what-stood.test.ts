import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { sha256 } from "../../src/base/canonical-json.ts";
import type { RecordKey } from "../../src/crm/model.ts";
import { standAsOf } from "../../src/inquiry/as-of/as-of.ts";
import { ReadOnlyLedger } from "../../src/inquiry/read-only-ledger.ts";
import { openReadOnly } from "../../src/ledger/database/database.ts";
import { ask, heldChange } from "../support/world/asked.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { folder, sqlite } from "../support/world/start.ts";
import { month } from "./statement/statement-world.ts";
import { rowsOf, statementKinds } from "./statement/stated.ts";
import { trustedAt } from "../support/trusted.ts";

const hour = 3_600_000;

/** Numbers that look random and are the same for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const customers = [key("C1"), key("C2")] as const;
const codes = ["assumption.missing", "needs.customer", "staff.refused"];

/** What happens to a company with two customers, two sources and many runs; each call is one thing. */
class Company {
  readonly world: LedgerWorld;
  readonly #roll: (sides: number) => number;
  readonly #open: string[] = [];
  readonly #holds: string[] = [];
  #orders = 0;

  constructor(world: LedgerWorld, roll: (sides: number) => number) {
    this.world = world;
    this.#roll = roll;
  }

  #one<T>(of: readonly T[]): T {
    const found = of[this.#roll(of.length)];
    if (found === undefined) throw new Error("there is none");
    return found;
  }

  #record(): { stream: "orders" | "staff" | "customers"; key: RecordKey; customer: RecordKey } {
    const customer = this.#one(customers);
    const { id } = customer;
    return this.#one([
      { stream: "customers", key: customer, customer },
      { stream: "orders", key: key(`${id}-O1`), customer },
      { stream: "orders", key: key(`${id}-O2`), customer },
      { stream: "staff", key: key(`${id}-S1`), customer },
    ]);
  }

  async begin(): Promise<void> {
    for (const customer of customers) {
      await this.world.read("customers", [{ customers: customerRecord(customer.id) }]);
      await this.world.link(customer, `E-${customer.id}`);
      for (const name of ["O1", "O2"])
        await this.world.read("orders", [{ orders: orderRecord(`${customer.id}-${name}`, customer.id) }]);
      await this.world.read("staff", [{ staff: staffRecord(`${customer.id}-S1`, customer.id) }]);
    }
  }

  /** The things that may happen. */
  readonly #things: readonly (() => Promise<unknown>)[] = [
    async () => {
      const { stream, key: record } = this.#record();
      const [code, reason] = [this.#one(codes), `it waits for ${this.#roll(3)}`];
      await this.world.ledger.records.setOutcomes(this.world.run, [
        { stream, key: record, outcome: "deferred", code, reason },
      ]);
    },
    async () => {
      const { stream, key: record } = this.#record();
      await this.world.ledger.records.setOutcomes(this.world.run, [{ stream, key: record, outcome: "planned" }]);
    },
    async () => await this.world.ledger.records.endDeferral(this.#one(customers), this.#one(codes).slice(0, 5)),
    async () => {
      const { stream, key: record, customer } = this.#record();
      await this.world.reject(stream, record, { customer, code: this.#one(["missing", "not-a-date"]) });
    },
    async () => await this.world.reject(this.#one(["orders", "staff"]), undefined, {}),
    async () => await this.#badRow(),
    async () => {
      const { id } = this.#one(customers);
      const amount = { currency: this.#one(["EUR", "USD"]), minor: 100 * (1 + this.#roll(50)) };
      await this.world.read("orders", [{ orders: orderRecord(`${id}-O1`, id, { amount }) }]);
    },
    // Whatever is missing from whole readings is gone after two of them, and there again when it comes.
    async () =>
      await this.world.read("staff", this.#roll(2) === 0 ? [] : [{ staff: staffRecord("C1-S1", "C1") }], {
        close: true,
      }),
    async () => await this.#otherSource(),
    async () => await this.#hold(),
    async () => {
      const hold = this.#holds.shift();
      if (hold === undefined) return;
      await this.world.ledger.decisions.decide(hold, this.#one(["approve", "reject"]), "meant", "ben");
    },
    async () => await this.#refused(),
    async () => await this.#parked(),
    async () => await this.#parked(),
    async () => await this.#settled(),
    async () => await this.#placed(),
    async () => await this.#observed(),
    async () => await this.#observed(),
    async () => {
      await this.world.ledger.runs.finish(this.world.run, { state: "done", exitCode: 3, balance: {}, summary: {} });
      await this.world.startRun();
    },
  ];

  async next(): Promise<void> {
    await this.#one(this.#things)();
  }

  async #hold(): Promise<void> {
    this.#orders += 1;
    const { id } = this.#one(customers);
    const operations = [heldChange(id, ` ${this.#orders}`)];
    const { hold } = await ask(this.world.ledger, id, { operations, count: 3 + this.#roll(9) });
    this.#holds.push(hold);
  }

  /** The same bad row at another line of the file, or with another fault. */
  async #badRow(): Promise<void> {
    const { records } = this.world.ledger;
    const read = await records.startRead(this.world.run, "erp", "orders");
    const rejection = {
      rawHash: sha256("a bad row"),
      place: `orders.csv:${this.#roll(90)}`,
      key: key("C1-O9"),
      customer: key("C1"),
      field: "amount",
      code: this.#one(["missing", "not-a-number"]),
      message: "the amount cannot be read",
      expected: "a decimal",
      raw: "{}",
    };
    await read.ingest([{ rejection }]);
    await read.finish({ complete: true, whole: false, rows: 1, bad: 1 });
  }

  /** A source of its own, of which a reading fails as often as not. */
  async #otherSource(): Promise<void> {
    const { records } = this.world.ledger;
    const read = await records.startRead(this.world.run, "hr", "staff");
    const fails = this.#roll(2) === 0;
    const problem = fails ? { problem: "the file ended in the middle of a row" } : {};
    await read.finish({ complete: !fails, whole: !fails, rows: this.#roll(9), bad: 0, ...problem });
    if (!fails)
      await read.closeWhole({
        reads: 2,
        ms: 0,
        time: async () => trustedAt(this.world.now),
      });
  }

  /** A new order of a customer, with the operation that places it, sent. */
  async #sent(): Promise<{ operation: string; order: RecordKey; customer: RecordKey } | undefined> {
    const customer = this.#one(customers);
    this.#orders += 1;
    const order = key(`${customer.id}-N${this.#orders}`);
    await this.world.read("orders", [{ orders: orderRecord(order.id, customer.id) }]);
    const planned = await this.world.orderOperation(customer, order).catch(() => undefined);
    if (planned === undefined) return undefined;
    return { operation: await this.world.intend(planned), order, customer };
  }

  async #refused(): Promise<void> {
    const sent = await this.#sent();
    if (sent === undefined) return;
    const { operation, order, customer } = sent;
    const record = { stream: "orders", ...order } as const;
    await this.world.ledger.journal.conclude(operation, {
      state: "rejected",
      attempt: { outcome: "rejected", httpStatus: 299, code: "40006" },
      code: "40006",
      message: "frozen",
      changes: [],
      rejections: {
        customer,
        kind: "place-order",
        settings: "s",
        parts: [{ record, hash: "h", code: "40006", reason: "frozen", shared: false }],
      },
      audit: { kind: "rejected", body: {} },
    });
  }

  async #parked(): Promise<void> {
    const sent = await this.#sent();
    if (sent === undefined) return;
    const { operation } = sent;
    await this.world.ledger.journal.conclude(operation, {
      state: this.#one(["parked", "unknown"]),
      attempt: { outcome: "unknown", detail: "time-out" },
      message: "the platform does not show the order",
      changes: [],
      audit: { kind: "unclear", body: { reason: "time-out" } },
    });
    this.#open.push(operation);
  }

  async #settled(): Promise<void> {
    const operation = this.#open.shift();
    if (operation === undefined) return;
    await this.world.ledger.journal.conclude(operation, {
      state: this.#one(["dropped", "done"]),
      verdict: "not found",
      changes: [],
      audit: { kind: "settled", body: { by: "anna", reason: "looked at it" } },
    });
  }

  async #placed(): Promise<void> {
    const customer = this.#one(customers);
    this.#orders += 1;
    const order = key(`${customer.id}-N${this.#orders}`);
    await this.world.read("orders", [{ orders: orderRecord(order.id, customer.id) }]);
    await this.world.place(customer, order).catch(() => undefined);
  }

  async #observed(): Promise<void> {
    const seen = ["8000000001", "8000000002"]
      .filter(() => this.#roll(2) === 0)
      .map((subject) => ({
        kind: "asset",
        subject,
        body: { assetId: `id-${subject}`, holder: null, borrowed: false },
      }));
    await this.world.observe(this.#one(customers), seen, this.#roll(4) > 0);
  }
}

function reading(path: string): ReadOnlyLedger {
  const ledger = new ReadOnlyLedger(path, openReadOnly(path));
  onTestFinished(() => ledger.close());
  return ledger;
}

/** Every statement of two months, row by row, with what is known at a moment. */
async function everything(ledger: ReadOnlyLedger, asOf: string): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const label of ["2026-10", "2026-11"])
    for (const kind of statementKinds)
      all[`${kind} ${label}`] = await rowsOf(ledger, kind, { period: month(label), by: "happened", filters: {}, asOf });
  return all;
}

/** What the statements say of a ledger at some moments, read from copies of its file that were made then. */
async function history(seed: number): Promise<{ path: string; moments: Map<string, Record<string, unknown>> }> {
  const roll = dice(seed);
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-20T08:00:00.000Z");
  await world.startRun();
  const company = new Company(world, roll);
  await company.begin();
  const moments = new Map<string, Record<string, unknown>>();
  for (let step = 0; step < 60; step += 1) {
    world.now += 1 + roll(12 * hour);
    await company.next();
    if (roll(8) > 0) continue;
    const path = join(folder(), "then.db");
    writeFileSync(path, sqlite(world.path).serialize());
    const at = new Date(world.now).toISOString();
    moments.set(at, await everything(reading(path), at));
  }
  return { path: world.path, moments };
}

describe("what stood at a moment", () => {
  it.each([1, 2, 3, 4])(
    "is what a copy of the ledger of that moment says, in every statement (seed %i)",
    { tags: "long" },
    async (seed) => {
      const { path, moments } = await history(seed);
      expect(moments.size).toBeGreaterThan(2);
      for (const [at, said] of moments) {
        const ledger = reading(path);
        standAsOf(ledger, at);
        const found = await everything(ledger, at);
        for (const [name, parts] of Object.entries(said))
          expect.soft(found[name], `${name} as of ${at}`).toEqual(parts);
      }
    },
  );
});
