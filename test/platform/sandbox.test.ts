import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";

import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { allProducts } from "../../src/contract/asset-contents.ts";
import { endpointIds } from "../../src/contract/endpoints.ts";
import { type NewBuyOrder, batchOrderRequestSchema } from "../../src/contract/order-record.ts";
import { matchBySequence, otherLocks } from "../../src/contract/order-service.ts";
import { assumptionSettingsSchema } from "../../src/contract/assumption-settings.ts";
import type { WriteOutcome } from "../../src/http/call.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import { memberCenterSettingsSchema, orderServiceSettingsSchema } from "../../src/platform/service-settings.ts";
import { openSandbox } from "../support/world/start.ts";
import { sentProduct } from "../support/world/records.ts";

async function started() {
  const sandbox = await openSandbox();
  const { credentials } = sandbox;
  const application = { tokenUrl: sandbox.tokenUrl, clientId: credentials.appKey, clientSecret: "env:APP_SECRET" };
  const authorization = { oauth2: { ...application, grant: "client_credentials" } };
  const userToken = {
    oauth2: { ...application, grant: "password", username: credentials.userName, password: "env:USER_PASSWORD" },
  };
  const shared = { callsPerSecond: null, backoffBaseMs: 1, backoffCapMs: 2 };
  const platform = createPlatform(
    {
      orderService: orderServiceSettingsSchema.parse({
        ...shared,
        baseUrl: sandbox.url,
        appKey: credentials.appKey,
        tokens: { authorization },
      }),
      memberCenter: memberCenterSettingsSchema.parse({
        ...shared,
        baseUrl: sandbox.url,
        tokens: { authorization, userToken },
      }),
      assumptions: assumptionSettingsSchema.parse({}),
    },
    {
      clock: systemClock,
      random: systemRandomness,
      logger: pino({ level: "silent" }),
      environment: { APP_SECRET: credentials.appSecret, USER_PASSWORD: credentials.userPassword },
    },
  );
  onTestFinished(() => platform.close());
  return { sandbox, platform };
}

const call = () => ({ nonce: systemRandomness.hex(16) });

function done<T>(outcome: WriteOutcome<T>): T {
  if (outcome.kind === "done") return outcome.data;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
}

function first<T>(list: readonly T[]): T {
  const [value] = list;
  if (value === undefined) throw new Error("the list is empty");
  return value;
}

const product = sentProduct("P1", "A1");

test("all nineteen operations work against both services, with tokens from the token endpoint", async () => {
  const { sandbox, platform } = await started();
  const { orderService, memberCenter } = platform;

  const created = done(
    await orderService.createEnterprise(
      { crmCustomerId: "ALFKI", customerName: "Customer", branchName: "Branch" },
      call(),
    ),
  );
  const enterpriseGlobalId = created.enterpriseGlobalId;
  const channelCode = "crm";
  const customers = (await orderService.findCustomers(channelCode, "ALFKI", "N", {})) ?? [];
  expect(customers.length).toBeGreaterThanOrEqual(1);
  const customer = first(customers.filter((one) => one.isDefault));
  expect(await orderService.findCustomers(channelCode, "NOBODY", "N", {})).toEqual([]);
  done(
    await orderService.updateEnterprise(
      { crmCustomerId: "ALFKI", customerName: "New", branchName: "Branch", address: "Street" },
      call(),
    ),
  );
  done(
    await orderService.bindEnterprise(
      {
        channelCode: "other",
        channelCustomerId: "BOUND",
        customerName: "C",
        branchName: "B",
        enterpriseName: "E",
        passwordMobile: "13800000000",
      },
      call(),
    ),
  );

  const [physical = "", cloud = "", lock = ""] = done(await orderService.takeAssetNumbers(3, call()));
  const record = (
    sequence: number,
    assetNumber: string,
    licenseType: NewBuyOrder["licenseType"],
    borrowed?: boolean,
  ): NewBuyOrder => ({
    sequence,
    customerId: customer.customerId,
    crmCustomerId: "ALFKI",
    customerName: "New",
    channelCustomerId: "ALFKI",
    adminName: "Ada",
    adminAccount: "ada",
    adminEmail: "ada@example.org",
    adminCellNumber: "1",
    passwordMobile: "1",
    address: "Street",
    customerType: "company",
    branchCode: "B1",
    branchName: "Branch",
    enterpriseGlobalId,
    licenseType,
    orderType: "new_buy",
    assets: [
      {
        assetNos: [assetNumber],
        ...(borrowed === undefined ? {} : { borrowedUsbKey: borrowed }),
        products: [product],
        merchandises: [
          {
            crmProductId: "K1",
            parentCrmProductId: "A1",
            merchandiseNum: "N1",
            merchandiseName: "Suite",
            parentMerchandiseNum: "",
            timeDurationExpression: "1-0-0",
            children: null,
            licenseOrderProductList: [{ ...product, crmProductId: "P2", parentCrmProductId: "K1" }],
          },
        ],
      },
    ],
  });
  const order = batchOrderRequestSchema.parse({
    channelCode,
    channelOrderId: "10248",
    syncMode: "sync",
    orderList: [
      record(1, physical, "normal_recover_usbkey"),
      record(2, cloud, "cloud_account"),
      record(3, lock, "normal_recover_usbkey", true),
    ],
  });
  const placed = matchBySequence(
    order,
    done(await orderService.placeOrders(order, { ...call(), body: JSON.stringify(order) })),
  );
  expect(placed.ok).toBe(true);

  const numbers = await memberCenter.listAssetNumbers(enterpriseGlobalId, {});
  const assetOf = (assetNumber: string) => first(numbers.filter((row) => row.assetNum === assetNumber)).assetId;
  const contents = await memberCenter.listAssetContents(assetOf(cloud), { enterpriseGlobalId });
  expect(allProducts(contents).map((one) => [one.channelOrderId, one.crmProductId])).toEqual([
    ["10248", "P1"],
    ["10248", "P2"],
  ]);
  const virtual = await orderService.listVirtualAssets(enterpriseGlobalId, {});
  expect(virtual.map((asset) => asset.assetNum)).toContain(cloud);

  const locks = [{ assetNum: physical, licenseType: "normal_recover_usbkey" as const, largeCustomer: false }];
  for (const results of [
    done(await orderService.lockAssets(locks, "licence desk", call())),
    done(await orderService.unlockAssets(locks, "licence desk", call())),
  ]) {
    expect(otherLocks([physical], results)).toEqual([]);
    expect(results.map((result) => result.status)).toEqual([1]);
  }

  const staff = { password: "Secret-123456", name: "Ann" };
  const added = done(
    await memberCenter.addStaff(enterpriseGlobalId, { userList: [{ userName: "ann", ...staff }] }, call()),
  );
  const memberGlobalId = first(added.succeeded).globalId;
  const partial = await memberCenter.addStaff(
    enterpriseGlobalId,
    {
      userList: [
        { userName: "ann", ...staff },
        { userName: "bob", ...staff },
      ],
    },
    call(),
  );
  expect(partial).toMatchObject({ kind: "partial", code: "60027", data: { succeeded: [{}], failed: [{}] } });
  done(await memberCenter.editStaff(enterpriseGlobalId, memberGlobalId, { userName: "ann", name: "Anna" }, call()));
  done(await memberCenter.resetPassword(enterpriseGlobalId, memberGlobalId, { password: "Other-123456" }, call()));

  const change = { deleteAssets: [], addAssets: [cloud] };
  done(await memberCenter.configureAssets(memberGlobalId, change, { ...call(), enterpriseGlobalId }));
  expect(await memberCenter.configureAssets(memberGlobalId, change, { ...call(), enterpriseGlobalId })).toMatchObject({
    kind: "unknown",
    code: "60028",
  });
  const list = await memberCenter.listStaff(enterpriseGlobalId, {});
  expect(list.find((row) => row.globalId === memberGlobalId)).toMatchObject({ name: "Anna", assetNums: [cloud] });

  done(
    await memberCenter.borrow(
      memberGlobalId,
      { borrowedUsbKey: lock, assetIDs: [assetOf(cloud)] },
      { ...call(), enterpriseGlobalId },
    ),
  );
  expect(await memberCenter.listBorrowedLocks(enterpriseGlobalId, {})).toMatchObject([
    { assetNum: lock, borrowedFlag: true, cloudAccountGlobalId: memberGlobalId },
  ]);

  const bob = first(list.filter((row) => row.userName.startsWith("bob"))).globalId;
  done(await memberCenter.deleteStaff(enterpriseGlobalId, bob, call()));
  expect(await memberCenter.deleteStaff(enterpriseGlobalId, bob, call())).toMatchObject({
    kind: "already",
    code: "60002",
  });

  const { calls } = sandbox.counts();
  expect(endpointIds.filter((id) => (calls[id] ?? 0) === 0)).toEqual([]);
});

test("tokens that expire in the middle are renewed once for all that read", async () => {
  const { sandbox, platform } = await started();
  await platform.orderService.findCustomers("any", "ALFKI", "N", {});
  sandbox.expireTokens();
  const before = sandbox.counts().calls["token"] ?? 0;
  await Promise.all(Array.from({ length: 32 }, () => platform.orderService.findCustomers("any", "ALFKI", "N", {})));
  expect((sandbox.counts().calls["token"] ?? 0) - before).toBe(1);
});
