import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { fullCheck } from "../support/full-check.ts";
import {
  northwindConfig,
  northwindDirectory,
  northwindIsMissing,
  northwindIsThere,
  northwindPersonal,
  northwindSource,
  northwindWished,
  temporaryFolder,
} from "../support/northwind.ts";
import { PlatformView, readCounts, readOrderBodies } from "../support/platform-view.ts";
import { crmSync, runResultOf } from "../support/program.ts";
import type { Ended } from "../support/program.ts";
import { startSandboxProcess } from "../support/sandbox-process.ts";
import type { SandboxProcess } from "../support/sandbox-process.ts";
import { order10248, order10250, order10289 } from "./northwind-bodies.ts";
import type { HandedOut } from "./northwind-bodies.ts";

if (!northwindIsThere) {
  describe("Northwind", () => {
    it(northwindIsMissing, () => expect(northwindIsThere).toBe(false));
  });
} else {
  describe("Northwind, synchronised through configuration alone", () => {
    const folder = temporaryFolder();
    const ledger = join(folder.path, "ledger.db");
    const output: string[] = [];
    let sandbox: SandboxProcess;
    let first: Ended;
    // Neither file quotes anything that is looked at here.
    const orderLines = rowsOf("order-details.csv");
    const customers = rowsOf("customers.csv").map(([id]) => id ?? "");

    function rowsOf(file: string): string[][] {
      const [, ...lines] = readFileSync(join(northwindDirectory, file), "utf8").trim().split(/\r?\n/u);
      return lines.map((line) => line.split(","));
    }

    async function does(...words: string[]): Promise<Ended> {
      const environment = { ...northwindSource, CRM_SYNC__log__level: "debug" };
      const place = { config: northwindConfig, sandbox: sandbox.url, ledger, environment };
      const ended = await crmSync(place, "--json", ...words);
      output.push(ended.stdout, ended.stderr);
      return ended;
    }

    beforeAll(async () => {
      sandbox = await startSandboxProcess({ store: join(folder.path, "sandbox.db") });
      first = await does("run", "customers-and-orders");
    });
    afterAll(async () => {
      await sandbox.close();
      folder.remove();
    });

    it("makes 91 enterprises and 830 E5 calls in the first run, and the run balances", async () => {
      const result = runResultOf(first);
      expect(result).toMatchObject({ state: "done", exit: 0, balance: { adds: true } });
      expect(first.exitCode).toBe(0);
      const { calls, effects, writingCalls } = await readCounts(sandbox.url);
      expect(calls).toMatchObject({ E2: 91, E5: 830 });
      expect(effects).toMatchObject({ E2: 91, E5: 830 });
      expect(result.writingCalls).toBe(writingCalls);
    });

    it("shows 2,155 products through M7, each with the quantity of its order line", { tags: "long" }, async () => {
      const ended = await does("run", "verify");
      expect(ended.exitCode, ended.stderr.slice(-2000)).toBe(0);
      expect(JSON.parse(ended.stdout)).toMatchObject({ customers: 91, failed: 0, assets: 830, products: 2155 });
      const view = new PlatformView(sandbox.url);
      const shown: string[] = [];
      for (const customer of customers) {
        const [first] = await view.customers("crm", customer);
        for (const asset of await view.assets(first?.enterpriseGlobalId ?? "")) {
          for (const product of await view.products(asset.assetId))
            shown.push(`${product.crmProductId} ${product.limitConcurrent}`);
        }
      }
      expect(shown.sort()).toEqual(
        orderLines.map(([order, product, , quantity]) => `${order}-${product} ${quantity}`).sort(),
      );
    });

    it("makes no writing call in the second run", async () => {
      const before = await readCounts(sandbox.url);
      const ended = await does("run", "customers-and-orders");
      expect(runResultOf(ended)).toMatchObject({ exit: 0, writingCalls: 0, balance: { adds: true } });
      expect((await readCounts(sandbox.url)).writingCalls).toBe(before.writingCalls);
    });

    it.each([
      ["10248", "VINET", order10248],
      ["10250", "HANAR", order10250],
      ["10289", "BSBEV", order10289],
    ])("sends the order %s of %s as the contract wants it", async (order, customer, written) => {
      const bodies = await readOrderBodies(sandbox.url, order);
      expect(bodies).toEqual([written(await handedOut(customer, order))]);
    });

    /** What the platform gave this order, read through E3, M6 and M7. */
    async function handedOut(customer: string, order: string): Promise<HandedOut> {
      const view = new PlatformView(sandbox.url);
      const customers = await view.customers("crm", customer);
      const main = z
        .tuple([z.object({ customerId: z.string(), enterpriseGlobalId: z.string() })])
        .parse(customers.filter((item) => item.isDefault))[0];
      for (const asset of await view.assets(main.enterpriseGlobalId)) {
        const products = await view.products(asset.assetId);
        if (products.some((product) => product.channelOrderId === order))
          return { ...main, assetNumber: asset.assetNum };
      }
      throw new Error(`no asset of ${customer} holds the order ${order}`);
    }

    it(
      "leaves platform, ledger and audit record in agreement, with nothing private outside its table",
      { tags: "long" },
      async () => {
        expect(
          await fullCheck({
            ledger,
            sandbox: sandbox.url,
            wished: northwindWished,
            personal: northwindPersonal,
            output,
          }),
        ).toEqual([]);
        const verified = await does("audit", "verify");
        expect(verified.exitCode, verified.stdout).toBe(0);
        expect(JSON.parse(verified.stdout)).toMatchObject({ good: true });
      },
    );

    it("finds a single edited entry of the audit record", async () => {
      const { default: Database } = await import("better-sqlite3");
      const database = new Database(ledger);
      database.exec("drop trigger audit_refuses_update");
      database
        .prepare("update audit set body = replace(body, '10250', '10251') where subject = 'order:crm/10250'")
        .run();
      database.close();
      const verified = await does("audit", "verify");
      expect(verified.exitCode).not.toBe(0);
      expect(JSON.parse(verified.stdout)).toMatchObject({ good: false });
    });
  });
}
