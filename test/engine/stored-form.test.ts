import { describe, expect, it } from "vitest";
import { operation } from "../../src/engine/model/operation.ts";

const customer = { namespace: "crm", id: "ALFKI" };
const staff = { stream: "staff", namespace: "crm", id: "S-1" } as const;
const acknowledged = { name: "c1", branchName: "East", address: null };

function marker(
  record: string,
  field: string,
): { $private: string; field: string; version: number; commitment: string } {
  return { $private: record, field, version: 1, commitment: `commitment of ${field}` };
}
const name = marker("customers/crm/ALFKI", "name");

/** One operation of each kind, and the hash by which a ledger and a plan file know it. */
const cases = [
  [
    operation("create-enterprise", {
      customer,
      subject: "customer:crm/ALFKI",
      records: [{ stream: "customers", ...customer }],
      target: { channelCustomerId: "ALFKI" },
      payload: { crmCustomerId: "ALFKI", customerName: name, branchName: "East", address: undefined },
      reason: "the platform does not know the customer yet",
      before: null,
      after: acknowledged,
    }),
    "0747993e6c14547b26fc130a038662a8b033395d1450eba621d357507626bbd5",
  ],
  [
    operation("bind-enterprise", {
      customer,
      subject: "customer:crm/ALFKI",
      records: [{ stream: "customers", ...customer }],
      target: { channelCustomerId: "ALFKI" },
      payload: {
        channelCode: "crm",
        channelCustomerId: "ALFKI",
        customerName: name,
        branchName: "East",
        enterpriseName: name,
        passwordMobile: marker("customers/crm/ALFKI", "purchaserMobile"),
      },
      reason: "the platform does not know the customer yet",
      before: null,
      after: acknowledged,
    }),
    "46e13b4452e52d6d8a1eda0edc6f85d3947d118863a830eaa31f156faa419892",
  ],
  [
    operation("update-enterprise", {
      customer,
      subject: "customer:crm/ALFKI",
      records: [{ stream: "customers", ...customer }],
      target: {},
      payload: { crmCustomerId: "ALFKI", customerName: name, branchName: "East", address: "" },
      reason: "the CRM changed name",
      before: { name: "c0", branchName: "East", address: "a0" },
      after: acknowledged,
    }),
    "af13267f9c4e1bc1a999bfabb3be8ed6574a6cdf743ce9ebe0ffcb5a40b9cb2c",
  ],
  [
    operation("place-order", {
      customer,
      subject: "order:crm/10248",
      records: [{ stream: "orders", namespace: "crm", id: "10248" }],
      target: {},
      payload: {
        channelCode: "crm",
        channelOrderId: "10248",
        syncMode: "sync",
        orderList: [
          {
            sequence: 1,
            customerId: { $ref: "customerId", of: "cloud_account" },
            crmCustomerId: "ALFKI",
            customerName: name,
            channelCustomerId: "ALFKI",
            adminName: marker("customers/crm/ALFKI", "adminName"),
            adminAccount: marker("customers/crm/ALFKI", "adminAccount"),
            adminEmail: marker("customers/crm/ALFKI", "adminEmail"),
            adminCellNumber: marker("customers/crm/ALFKI", "adminMobile"),
            passwordMobile: marker("customers/crm/ALFKI", "purchaserMobile"),
            address: marker("customers/crm/ALFKI", "address"),
            customerType: "company",
            branchCode: "E",
            branchName: "East",
            enterpriseGlobalId: { $ref: "enterpriseGlobalId" },
            licenseType: "cloud_account",
            orderType: "new_buy",
            assets: [
              {
                assetNos: [{ $ref: "assetNumber", of: '["crm","10248","A-1",0]' }],
                products: [
                  {
                    crmProductId: "P-1",
                    parentCrmProductId: "A-1",
                    productUri: "gms-1",
                    productName: "Planner",
                    gmsPid: "gms-1",
                    appKey: undefined,
                    productType: "software",
                    limitConcurrent: 5,
                    limitTimeDuration: 0,
                    strictMatchWhenDelete: true,
                    trial: 0,
                    trialEndDate: 20991231,
                    timeUnit: "year",
                    timeUnitQuantity: 1,
                    timeDurationExpression: "1-0-0",
                    srcLicenseOrderId: undefined,
                    productFeatures: [
                      {
                        featureCode: "f",
                        featureName: "F",
                        featureValue: "1",
                        featureValueType: "int",
                        trial: 0,
                        trialEndDate: "2099-12-31",
                      },
                    ],
                    passwords: marker("orders/crm/10248", "instances[P-1].passwords"),
                  },
                ],
                merchandises: [
                  {
                    crmProductId: "M-1",
                    parentCrmProductId: "A-1",
                    merchandiseNum: "m-1",
                    merchandiseName: "Suite",
                    parentMerchandiseNum: null,
                    timeDurationExpression: "1-0-0",
                    children: null,
                    licenseOrderProductList: [],
                  },
                ],
              },
            ],
          },
        ],
      },
      reason: "the order is new in the CRM",
      before: null,
      after: {
        version: 1,
        bodyHash: "b1",
        assets: [{ id: "A-1", licenseType: "cloud_account", quantity: 1, given: [] }],
      },
    }),
    "93b49a454be82d4c6293fb5d16cab9d99de3f6aed49a05af8bd109fe41926dae",
  ],
  [
    operation("add-staff", {
      customer,
      subject: "staff-of:crm/ALFKI",
      records: [staff],
      target: { enterpriseGlobalId: { $ref: "enterpriseGlobalId" } },
      payload: {
        userList: [
          {
            userName: marker("staff/crm/S-1", "userName"),
            password: { $initialPassword: "crm/S-1" },
            departmentId: "9007199254740993",
            name: marker("staff/crm/S-1", "name"),
            remark: undefined,
            passwordMobile: undefined,
          },
        ],
      },
      reason: "1 staff member is not on the platform yet",
      before: null,
      after: [{ staff: "crm/S-1", userName: "u", name: "n", remark: null, mobile: null, departmentId: null }],
    }),
    "4b28f3cb4594cfdded8e52a2167d965c58ced245344b9692968c2452466e1173",
  ],
  [
    operation("revoke-assets", {
      customer,
      subject: "staff:crm/S-1",
      records: [staff],
      target: { memberGlobalId: "g-1" },
      payload: { deleteAssets: ["8000000001", "8000000002"], addAssets: [] },
      reason: "the CRM no longer gives this person 2 assets",
      before: { "8000000001": "g-1", "8000000002": "g-1" },
      after: null,
    }),
    "12f0e21d12a3f0bdb63a504d029fdcb9d49bc212c108236317e472bdb732dbf1",
  ],
  [
    operation("grant-assets", {
      customer,
      subject: "staff:crm/S-1",
      records: [staff],
      target: { memberGlobalId: { $ref: "memberGlobalId", of: "crm/S-1" } },
      payload: { deleteAssets: [], addAssets: [{ $ref: "assetNumber", of: '["crm","10248","A-1",0]' }, "8000000003"] },
      reason: "the CRM gives this person 2 assets more",
      before: null,
      after: ['["crm","10248","A-1",0]', "8000000003"],
    }),
    "b6ea6adf7a6f9505389063d2ab6ace4914a07fae0e3474e1cbacd902c3e60355",
  ],
  ...(["lock-assets", "unlock-assets"] as const).map(
    (kind) =>
      [
        operation(kind, {
          customer,
          subject: "locks:crm/ALFKI",
          records: [{ stream: "customers", ...customer }],
          target: {},
          payload: { assetNums: ["8000000001"], operatorIdentity: "licence desk" },
          reason: "anna.lee asked to have 1 lock switched",
          before: { "8000000001": "2026-10-01T08:00:00.000Z" },
          after: [{ assetNum: "8000000001", licenseType: "normal_recover_usbkey", largeCustomer: false }],
        }),
        kind === "lock-assets"
          ? "befc59b6e2652909fda6bb35e7bbab62ecd1712c087df7d20fc54c36f152bdad"
          : "cf2b9cae4984293e8636051c75683ac4f67c86aea4565a78e1dc85531a71b85e",
      ] as const,
  ),
  [
    operation("borrow-assets", {
      customer,
      subject: "loan:8000000009",
      records: [{ stream: "customers", ...customer }],
      target: { memberGlobalId: "6300000000000000001" },
      payload: { borrowedUsbKey: "8000000009", assetIDs: ["6500000000000000001"] },
      reason: "anna.lee asked to have 1 asset of crm/S1 lent",
      before: { "8000000009": "2026-10-01T08:00:00.000Z" },
      after: {
        staff: { namespace: "crm", id: "S1" },
        memberGlobalId: "6300000000000000001",
        assets: [{ number: "8000000001", assetId: "6500000000000000001" }],
      },
    }),
    "fd3328d12cd1e63746a6fbc837d083fd26dd62ce178b2ae0598477cf709ebe85",
  ],
  [
    operation("take-asset-numbers", {
      customer: { namespace: "", id: "" },
      subject: "pool",
      records: [],
      target: {},
      payload: { size: 40 },
      reason: "the pool of asset numbers is empty",
      before: null,
      after: null,
    }),
    "dbfb8de0254d9ef7bc9941cea9232fd11a6d0876a033a4a1b6c00d86bb3fa0d0",
  ],
] as const;

describe("the stored form of operations", () => {
  it.each(cases.map(([made, hash]) => [made.kind, made, hash] as const))("%s keeps its hash", (_, made, hash) => {
    expect(made.hash).toBe(hash);
  });
});
