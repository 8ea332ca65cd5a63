import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { stringify } from "yaml";
import { systemClock } from "../../../../src/base/clock.ts";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { putNewLedger } from "../../../support/new-ledger.ts";
import { PlatformView, type ShownProduct } from "../../../support/platform-view.ts";
import { crmSync, type Ended } from "../../../support/program.ts";
import { customerRow, sealEnvironment, staffRow } from "../../../support/world/crm.ts";
import { lines, mappingOf, writeFiles } from "../../../support/world/crm-files.ts";
import { newSandbox, rowsOf } from "../../../support/world/start.ts";

/** Decimals of an amount as this CRM writes it, digit by digit; in both currencies of these tests there are two. */
export function minorOf(decimals: string): bigint {
  return BigInt(decimals.replace(".", ""));
}

export interface BookCustomer {
  id: string;
  branchCode: string;
}

export interface BookProduct {
  id: string;
  parent: string;
  name: string;
  /** Its product number, or where it has none its application key. */
  pid?: string;
  app?: string;
  nodes: number;
  price: string;
  /** A product with an end has it as a local date and as the instant of the export. */
  until?: { date: string; instant: string };
  /** In whole years. */
  years: number;
  trial?: boolean;
}

export interface BookAsset {
  id: string;
  type: "cloud_account" | "softkey";
  quantity: number;
  until?: { date: string; instant: string };
  continues?: { order: string; instance: string };
}

/** An order as this CRM exports it, with the local date on which it was placed in the zone of the statements. */
export interface BookOrder {
  id: string;
  customer: string;
  date: string;
  placedAt: string;
  total: string;
  currency: string;
  cancelled: boolean;
  assets: BookAsset[];
  packages: { id: string; parent: string; name: string }[];
  products: BookProduct[];
}

export interface BookPerson {
  id: string;
  customer: string;
  holds: string[];
}

/** A number on the platform, with who holds it and what it holds. */
export interface ShownNumber {
  number: string;
  customer: string;
  enterprise: string;
  holder: string | null;
  products: ShownProduct[];
}

/** One run as the test knows of it: when it was, what it printed, and what the sandbox got and shows since. */
export interface ToldRun {
  at: string;
  job: string;
  exitCode: number | null;
  /** The id that it printed. */
  id: string;
  /** Calls that the sandbox got meanwhile, by operation. */
  calls: Record<string, number>;
  orders: BookOrder[];
  customers: BookCustomer[];
  staff: BookPerson[];
  shown: ShownNumber[];
  /** Member ids by the ids of people, from M5. */
  members: Map<string, string>;
}

export const zone = "Europe/Berlin";

const orderMapping = {
  ...mappingOf("orders"),
  amount: { money: "total", currency: { path: "currency" }, decimals: 2 },
  instances: [
    {
      kind: "asset",
      each: "assets",
      fields: {
        id: "id",
        licenseType: "type",
        quantity: "quantity",
        limitEnd: "until.instant",
        continues: { orderId: "continues.order", instanceId: "continues.instance" },
      },
    },
    {
      kind: "package",
      each: "packages",
      fields: { id: "id", parentId: "parent", number: "id", name: "name", term: { value: "1-0-0" } },
    },
    {
      kind: "product",
      each: "products",
      fields: {
        id: "id",
        parentId: "parent",
        name: "name",
        gmsPid: "pid",
        appKey: "app",
        type: { value: "tool" },
        nodes: "nodes",
        trial: "trial",
        trialEnd: "until.instant",
        limitEnd: "until.instant",
        timeUnit: { value: "YEAR" },
        timeUnitQuantity: "years",
        term: { template: "{years}-0-0" },
        amount: { money: "price", currency: { path: "currency" }, decimals: 2 },
      },
    },
  ],
};

/** A CRM whose export is a file a stream, in two sources, and a platform; the test owns the clock of both. */
export class CrmBooks {
  now = Date.parse("2026-09-01T08:00:00.000Z");
  customers: BookCustomer[] = [];
  orders: BookOrder[] = [];
  staff: BookPerson[] = [];
  extra: Record<string, unknown> = {};
  readonly environment: Record<string, string> = { ...sealEnvironment };
  readonly told: ToldRun[] = [];
  readonly sandbox: Sandbox;
  readonly #folder = mkdtempSync(join(tmpdir(), "crm-sync-books-"));

  private constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
    vi.spyOn(Date, "now").mockImplementation(() => this.now);
    putNewLedger(this.ledger);
  }

  static async open(): Promise<CrmBooks> {
    return new CrmBooks(await newSandbox({ clock: systemClock }));
  }

  async close(): Promise<void> {
    vi.restoreAllMocks();
    await this.sandbox.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get ledger(): string {
    return join(this.#folder, "ledger.db");
  }

  get instant(): string {
    return new Date(this.now).toISOString();
  }

  /** Rows of the ledger, for what only it has. */
  rows<Found>(sql: string, ...parameters: unknown[]): Found[] {
    return rowsOf<Found>(this.ledger, sql, ...parameters);
  }

  at(instant: string): void {
    this.now = Date.parse(instant);
  }

  /** Writes the export as it is now, a row on each line, and the configuration. */
  write(): void {
    const source = (streams: Record<string, unknown>) => ({ kind: "file", directory: "data", streams });
    const stream = (name: "customers" | "orders" | "staff", mapping: unknown) => ({
      [name]: { files: `${name}.ndjson`, key: "id", mapping },
    });
    const crm = source({
      ...stream("customers", { ...mappingOf("customers"), branchCode: "branchCode" }),
      ...stream("orders", orderMapping),
    });
    const hr = source(stream("staff", mappingOf("staff")));
    writeFileSync(
      join(this.#folder, "crm-sync.yaml"),
      stringify({
        ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
        zone,
        log: { level: "warn" },
        sources: { crm, hr },
        jobs: { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } },
        ...this.extra,
      }),
    );
    const orders = this.orders.map((order) => ({
      ...order,
      products: order.products.map((product) => ({ currency: order.currency, ...product })),
    }));
    writeFiles(join(this.#folder, "data"), {
      "customers.ndjson": lines(this.customers.map((one) => ({ ...customerRow(one), ...one }))),
      "orders.ndjson": lines(orders),
      "staff.ndjson": lines(this.staff.map(staffRow)),
    });
  }

  /** Carries a command line out at the moment of the clock. */
  async does(...words: string[]): Promise<Ended> {
    const place = { config: join(this.#folder, "crm-sync.yaml"), sandbox: this.sandbox.url };
    return await crmSync({ ...place, environment: this.environment }, ...words);
  }

  /** Writes the export, runs a job at a moment, or for one customer alone, and looks at the platform. */
  async runs(instant: string, job = "everything", exitCode = 0, customer?: string): Promise<ToldRun> {
    this.at(instant);
    this.write();
    const before = this.sandbox.counts().calls;
    const words = customer === undefined ? ["run", job] : ["resync", "--customer", customer];
    const ended = await this.does("--json", ...words);
    if (ended.exitCode !== exitCode) throw new Error(`exit ${ended.exitCode}: ${ended.stdout}${ended.stderr}`);
    const after = Object.entries(this.sandbox.counts().calls);
    const calls = Object.fromEntries(after.map(([name, count]) => [name, count - (before[name] ?? 0)]));
    const told: unknown = JSON.parse(ended.stdout);
    const id = typeof told === "object" && told !== null && "run" in told ? String(told.run) : "";
    const { customers, orders, staff } = structuredClone({
      customers: this.customers,
      orders: this.orders,
      staff: this.staff,
    });
    const run = { at: this.instant, job, exitCode: ended.exitCode, id, calls, customers, orders, staff };
    const whole = { ...run, ...(await this.#looked()) };
    this.told.push(whole);
    return whole;
  }

  /** What the platform shows of every customer, by its own reading calls. */
  async #looked(): Promise<Pick<ToldRun, "shown" | "members">> {
    const view = new PlatformView(this.sandbox.url);
    const shown: ShownNumber[] = [];
    const members = new Map<string, string>();
    for (const { id } of this.customers) {
      const [first] = await view.customers("crm", id);
      if (first === undefined) continue;
      const enterprise = first.enterpriseGlobalId;
      const people = await view.members(enterprise);
      for (const person of this.staff) {
        const login = staffRow(person).login;
        const member = people.find(({ userName }) => userName.startsWith(login));
        if (member !== undefined) members.set(person.id, member.globalId);
      }
      for (const { assetId, assetNum, cloudAccountGlobalId } of await view.assets(enterprise)) {
        const products = await view.products(assetId);
        shown.push({ number: assetNum, customer: id, enterprise, holder: cloudAccountGlobalId, products });
      }
    }
    return { shown, members };
  }
}
