import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SandboxOptions, Sandbox } from "../../../src/sandbox/sandbox.ts";
import { fullCheck } from "../../support/full-check.ts";
import {
  northwindConfig,
  northwindIsMissing,
  northwindIsThere,
  northwindPersonal,
  northwindSource,
  northwindWished,
} from "../../support/northwind.ts";
import { startCrmSync } from "../../support/process.ts";
import { crmSync, type Ended, type Place } from "../../support/program.ts";
import { folder, openSandbox } from "../../support/world/start.ts";

/** A ledger of its own, and a sandbox, for Northwind. */
async function northwind(
  options: Partial<SandboxOptions> = {},
): Promise<{ place: Place & { ledger: string }; sandbox: Sandbox }> {
  const sandbox = await openSandbox(options);
  const environment = { ...northwindSource, CRM_SYNC__settle__timeMs: "400" };
  const place = { config: northwindConfig, sandbox: sandbox.url, ledger: join(folder(), "ledger.db"), environment };
  return { place, sandbox };
}

const words = ["--json", "run", "customers-and-orders"];

async function expectWhole(place: Place & { ledger: string }, sandbox: Sandbox, output: string[]): Promise<void> {
  const { ledger } = place;
  const wished = { wished: northwindWished, personal: northwindPersonal };
  expect(await fullCheck({ ledger, sandbox: sandbox.url, output, ...wished })).toEqual([]);
}

describe.runIf(northwindIsThere)("Northwind", () => {
  it("is placed by 91 enterprises and 830 orders in the first run, and by nothing in the second", async () => {
    const { place, sandbox } = await northwind();
    const first = await crmSync(place, ...words);
    expect(JSON.parse(first.stdout)).toMatchObject({ state: "done", exit: 0, balance: { adds: true } });
    expect(sandbox.counts()).toMatchObject({ calls: { E2: 91, E5: 830 }, effects: { E2: 91, E5: 830 } });
    const [batch] = sandbox.batches("10250");
    expect(JSON.parse(batch?.body ?? "")).toEqual(order10250);
    const second = await crmSync(place, ...words);
    expect(JSON.parse(second.stdout)).toMatchObject({ exit: 0, writingCalls: 0, balance: { adds: true } });
  });

  it("leaves platform, ledger and audit log in agreement, and nothing private", { tags: "long" }, async () => {
    const { place, sandbox } = await northwind();
    place.environment = { ...place.environment, CRM_SYNC__log__level: "debug" };
    const ran: Ended[] = [];
    for (const command of [words, ["--json", "run", "verify"], ["--json", "audit", "verify"]]) {
      ran.push(await crmSync(place, ...command));
      expect(ran.at(-1)?.exitCode, command.join(" ")).toBe(0);
    }
    expect(JSON.parse(ran[1]?.stdout ?? "")).toMatchObject({ customers: 91, failed: 0, assets: 830, products: 2155 });
    await expectWhole(
      place,
      sandbox,
      ran.flatMap(({ stdout, stderr }) => [stdout, stderr]),
    );
  });

  it("has each of its orders placed once although the run is killed five times", { tags: "long" }, async () => {
    /** The process is killed when the platform has applied this many orders and has not answered the last one. */
    const moments = [1, 50, 200, 500, 800];
    let placed = 0;
    let [moment] = moments;
    let reached = Promise.withResolvers<void>();
    let killed = Promise.withResolvers<void>();
    const { place, sandbox } = await northwind({
      gate: async (operation, when) => {
        if (operation !== "E5" || when === "before") return;
        placed += 1;
        if (moment === undefined || placed < moment) return;
        reached.resolve();
        await killed.promise;
      },
    });
    const output: string[] = [];
    for (moment of moments) {
      const running = startCrmSync(place, ...words);
      await reached.promise;
      running.child.kill("SIGKILL");
      const { signal, stdout, stderr } = await running.ended;
      expect(signal).toBe("SIGKILL");
      output.push(stdout, stderr);
      moment = undefined;
      killed.resolve();
      reached = Promise.withResolvers();
      killed = Promise.withResolvers();
    }
    const last = await crmSync(place, ...words);
    expect(last.exitCode, last.stdout).toBe(0);
    await expectWhole(place, sandbox, [...output, last.stdout, last.stderr]);
    const orders = Object.values(sandbox.state().orders);
    expect([orders.length, orders.filter(({ calls }) => calls !== 1)]).toEqual([830, []]);
    const again = await crmSync(place, ...words);
    expect(JSON.parse(again.stdout)).toMatchObject({ exit: 0, writingCalls: 0 });
  });
});

it.skipIf(northwindIsThere)(northwindIsMissing, () => expect(northwindIsThere).toBe(false));

const rest = {
  productType: "tool",
  limitTimeDuration: 0,
  strictMatchWhenDelete: true,
  trial: 0,
  trialEndDate: 0,
  timeUnit: "NONE",
  timeUnitQuantity: 0,
  timeDurationExpression: "0-0-0",
  productFeatures: [],
};

const product = (id: number, productName: string, limitConcurrent: number): object => ({
  crmProductId: `10250-${id}`,
  parentCrmProductId: "A-10250",
  productUri: `NW-${id}`,
  gmsPid: `NW-${id}`,
  productName,
  limitConcurrent,
  ...rest,
});

/** The E5 body of one order, written by hand from the contract and from Northwind's own rows. */
const order10250 = {
  channelCode: "crm",
  channelOrderId: "10250",
  syncMode: "sync",
  orderList: [
    {
      sequence: 1,
      customerId: expect.any(String),
      crmCustomerId: "HANAR",
      customerName: "Hanari Carnes",
      channelCustomerId: "HANAR",
      adminName: "Mario Pontes",
      adminAccount: "hanar",
      adminEmail: "HANAR@northwind.example.com",
      adminCellNumber: "+10000000000",
      passwordMobile: "+10000000000",
      address: "Rua do Paço, 67, 05454-876, Rio de Janeiro, RJ, Brazil",
      customerType: "company",
      branchCode: "NW",
      branchName: "Northwind",
      enterpriseGlobalId: expect.any(String),
      licenseType: "cloud_account",
      orderType: "new_buy",
      assets: [
        {
          assetNos: [expect.any(String)],
          products: [
            product(41, "Jack's New England Clam Chowder", 10),
            product(51, "Manjimup Dried Apples", 35),
            product(65, "Louisiana Fiery Hot Pepper Sauce", 15),
          ],
        },
      ],
    },
  ],
};
