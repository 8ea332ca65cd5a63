import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { formatKey } from "../../src/crm/keys.ts";
import type { Instance, Order } from "../../src/crm/model.ts";
import { buildAssets } from "../../src/crm/tree.ts";
import { sandboxSettingsSchema } from "../../src/sandbox/sandbox-settings.ts";
import { addedEntry } from "../../src/sandbox/staff.ts";
import { customersAndOrders } from "../../jobs/customers-and-orders.ts";
import { monthlyReport } from "../../jobs/monthly-report.ts";
import { staff as staffJob } from "../../jobs/staff.ts";
import { verify } from "../../jobs/verify.ts";
import { bindJobs } from "../../src/operate/job.ts";
import { ordersOf } from "../config/example-bodies.ts";
import { contentsOf, loadExample, readExample } from "../config/example-records.ts";

const demo = join(import.meta.dirname, "../../demo");
const loaded = await loadExample(join(demo, "crm-sync.yaml"), {
  profiles: ["sandbox"],
  environment: {
    DEMO_KEY: "canary",
    CRM_SYNC__ledger__sealKey: "env:DEMO_KEY",
    ...Object.fromEntries(
      ["crm", "portal", "hr"].map((name) => [`CRM_SYNC__sources__${name}__directory`, join(demo, "sample", name)]),
    ),
  },
});
const records = await readExample(loaded);
const keys = records.customers.map(formatKey);
/** Without the one that two sources claim, which waits in quarantine. */
const customers = records.customers.filter(
  (customer) => keys.filter((key) => key === formatKey(customer)).length === 1,
);
const { bodies, placed, waiting } = ordersOf({ customers, orders: records.orders }, loaded.config.assumptions);

function depthOf(instances: readonly Instance[], id: string): number {
  const found = instances.find((instance) => instance.kind === "package" && instance.id === id);
  return found?.kind === "package" ? 1 + depthOf(instances, found.parentId) : 0;
}

function deepest(order: Order): number {
  return Math.max(0, ...order.instances.map((one) => (one.kind === "package" ? depthOf(order.instances, one.id) : 0)));
}

describe("the sample of the demo", () => {
  it("has as many good records as the demo says, and these bad ones", () => {
    expect(records.customers).toHaveLength(299);
    expect(records.orders).toHaveLength(311);
    expect(records.staff).toHaveLength(314);
    expect(records.bad).toEqual([
      "crm customers.csv:24 missing",
      "crm customers.csv:58 column-count",
      "crm orders.csv:79 instance-cycle",
      "crm orders.csv:88 orphan-instance",
      "crm orders.csv:99 duplicate-instance",
      "crm orders.csv:111 package-number-disagrees",
      "crm orders.csv:122 unlisted-word",
      "crm orders.csv:135 not-a-date",
      "hr staff.ndjson:315 bad-name",
      "hr staff.ndjson:316 bad-user-name",
    ]);
  });

  it("has one customer that two sources claim", () => {
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual(["crm/C-1017"]);
  });

  it("has orders that the contract and the sandbox take, one that was cancelled and three that have to wait", () => {
    expect(customers).toHaveLength(297);
    expect(waiting).toEqual([
      "crm/SO-50022 customer.unknown",
      "crm/SO-50050 customer.not-orderable",
      "crm/SO-50147 nothing to do",
      "crm/SO-50239 customer.unknown",
    ]);
    expect(bodies).toHaveLength(307);
    expect(contentsOf(placed)).toEqual({
      assets: 365,
      extensions: 130,
      features: 520,
      numbers: 575,
      "numbers of the CRM": 58,
      packages: 148,
      "packages on numbers": 209,
      products: 748,
      "products on numbers": 1_190,
    });
    expect(bodies.filter((body) => Array.isArray(body["orderList"]) && body["orderList"].length === 2)).toHaveLength(
      42,
    );
  });

  it("has packages three levels deep, licence passwords, trials and most kinds of licence", () => {
    expect(Math.max(...records.orders.map(deepest))).toBe(3);
    const instances = records.orders.flatMap((order) => order.instances);
    const products = instances.filter((instance) => instance.kind === "product");
    expect(products.filter((product) => product.passwords !== undefined)).toHaveLength(67);
    expect(products.filter((product) => product.trial)).toHaveLength(44);
    expect(products.filter((product) => product.usage !== undefined)).toHaveLength(25);
    const types = new Set(instances.flatMap((instance) => (instance.kind === "asset" ? instance.licenseType : [])));
    expect([...types].sort()).toEqual([
      "cloud_account",
      "cloud_customer",
      "cloud_personal",
      "identity_usbkey",
      "lan_softkey",
      "lk_auth_usbkey",
      "lk_product_usbkey",
      "normal_recover_lan_usbkey",
      "normal_recover_usbkey",
      "normal_unrecover_lan_usbkey",
      "softkey",
    ]);
  });

  it("gives staff assets that an order of their own customer brings, and no asset number to two people", () => {
    const owners = new Map<string, string>();
    const free = new Map<string, number>();
    for (const order of placed) {
      const customer = `${order.customerNamespace ?? order.namespace}/${order.customerId}`;
      for (const asset of buildAssets(order.instances).assets) {
        for (const name of [`${order.namespace} ${asset.id}`, ...asset.assetNumbers]) owners.set(name, customer);
        free.set(`${order.namespace} ${asset.id}`, asset.quantity);
        for (const number of asset.assetNumbers) free.set(number, 1);
      }
    }
    const claims = records.staff.flatMap((staff) => staff.assets.map((claim) => ({ staff, claim })));
    expect(claims).toHaveLength(320);
    expect(claims.filter(({ claim }) => "assetNumber" in claim)).toHaveLength(35);
    for (const { staff, claim } of claims) {
      const name = "assetNumber" in claim ? claim.assetNumber : `${staff.namespace} ${claim.instanceId}`;
      expect(owners.get(name), name).toBe(`${staff.namespace}/${staff.customerId}`);
      const left = free.get(name) ?? 0;
      expect(left, name).toBeGreaterThan(0);
      free.set(name, left - 1);
    }
  });

  it("names nobody who could be reached: addresses of example.com, numbers of an area that does not exist", () => {
    const mobile = new RegExp(sandboxSettingsSchema.parse({}).mobilePattern);
    for (const customer of records.customers) {
      expect(customer.adminEmail).toMatch(/^[a-z0-9]+@p?c-\d+\.example\.com$/);
      expect(customer.adminMobile).toMatch(/^\+4900000\d{6}$/);
      expect(customer.purchaserMobile).toMatch(/^\+4900000\d{6}$/);
    }
    for (const staff of records.staff) {
      expect(staff.mobile).toMatch(mobile);
      expect(staff.mobile).toMatch(/^\+4900000\d{6}$/);
    }
  });
});

describe("staff of the sample", () => {
  it("is staff that the sandbox takes", () => {
    const sandbox = sandboxSettingsSchema.parse({});
    for (const { userName, name, remark, departmentId, mobile } of records.staff) {
      const department = departmentId === undefined ? undefined : Number(departmentId);
      const entry = {
        userName,
        name,
        remark,
        departmentId: department,
        passwordMobile: mobile,
        password: "a good password",
      };
      expect(() => addedEntry(entry, "E00001", sandbox)).not.toThrow();
    }
  });
});

describe("the configuration of the demo", () => {
  it("keeps its ledger and its key in the state folder beside it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "crm-sync-demo-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, "state"));
    writeFileSync(join(folder, "state/seal.key"), "canary-key");
    copyFileSync(join(demo, "crm-sync.yaml"), join(folder, "crm-sync.yaml"));
    const { config, secrets } = await loadExample(join(folder, "crm-sync.yaml"), { profiles: ["sandbox"] });
    expect(config.ledger.path).toBe("state/ledger.db");
    expect(secrets.known.isIn("canary-key")).toBe(true);
  });

  it("binds every job to its sources", () => {
    const jobs = bindJobs([customersAndOrders, staffJob, verify, monthlyReport], loaded.config);
    expect(jobs.ok && jobs.value.map((job) => [job.id, job.sources])).toEqual([
      ["customers-and-orders", ["crm", "portal"]],
      ["staff", ["hr"]],
      ["verify", ["crm", "portal", "hr"]],
      ["monthly-report", ["crm", "portal", "hr"]],
    ]);
  });
});
