import { expect, it, onTestFinished } from "vitest";
import { openApplication } from "../../src/app/application.ts";
import { askingForLocks } from "../../src/requests/locks.ts";
import { askFor, type RequestDesk, type RequestResult } from "../../src/requests/requests.ts";
import { exitCodes } from "../../src/base/errors.ts";
import { world } from "../support/cli.ts";
import { key } from "../support/world/records.ts";
import { assetRow, company } from "../support/world/crm.ts";

it("what somebody else takes back before it is sent does not end as done", async () => {
  const { orders, ...records } = company(1, 1);
  const type = "normal_recover_usbkey" as const;
  const reissuable = orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => ({ ...assetRow(asset), type })),
  }));
  const w = await world({ records: { ...records, orders: reissuable } });
  expect((await w.run("run", "everything")).exitCode).toBe(exitCodes.ok);
  const face = { log: () => ({ write: () => {} }), progress: () => {} };
  const place = { config: w.path("crm-sync.yaml"), sandbox: w.sandbox.url };
  const application = await openApplication(place, w.environment, face);
  onTestFinished(() => application.close());
  const ledger = await application.ledger();
  const customer = key("C1");
  const [about = ""] = (await ledger.state.readTogether((rows) => rows.order.licenceTypes(customer))).keys();
  const desk: RequestDesk = {
    clock: application.clock,
    config: application.config,
    ledger: () => application.ledger(),
    runDependencies: () => application.runDependencies(),
    notifyDependencies: (of) => application.notifyDependencies(of),
    runHeader: () => application.runHeader(),
    // The run has the lock and has sent nothing yet.
    requirePlatform: async () => {
      const whose = { by: "somebody.else", reason: "found again" };
      await ledger.requests.withdraw(customer, [{ of: "lock", about, wanted: "locked" }], whose);
      await application.requirePlatform();
    },
  };
  const request = { customer, numbers: [about], wanted: "locked", largeCustomer: false, withdraw: false } as const;
  const shown: RequestResult[] = [];
  const show = async (result: RequestResult): Promise<void> => void shown.push(result);
  const { signal } = new AbortController();
  const asking = askingForLocks(desk, { ...request, by: "anna.lee", reason: "stolen" });
  const exit = await askFor(desk, asking, { signal, show });
  expect([shown.map(({ requests }) => requests), w.sandbox.state().lockedAssets, exit]).toEqual([
    [[]],
    0,
    exitCodes.recordsRejected,
  ]);
});
