/** E5 bodies written by hand from the contract, as the service must get them. */

/** The fields that every order record of Alfreds holds. */
const identifying = {
  crmCustomerId: "ALFKI",
  customerName: "CANARY name ALFKI",
  channelCustomerId: "ALFKI",
  adminName: "CANARY admin",
  adminAccount: "CANARYadmin",
  adminEmail: "CANARY@example.com",
  adminCellNumber: "491770070001",
  passwordMobile: "491770070002",
  address: "CANARY street ALFKI",
  customerType: "company",
  branchCode: "B1",
  branchName: "Branch 1",
  enterpriseGlobalId: "ENT-1",
};

/** One asset with two numbers, and every optional field of the contract in use. */
export const flatBody = {
  channelCode: "CH1",
  channelOrderId: "10248",
  syncMode: "sync",
  orderList: [
    {
      sequence: 1,
      customerId: "C-default",
      ...identifying,
      licenseType: "normal_recover_usbkey",
      orderType: "new_buy",
      assets: [
        {
          assetNos: ["CRM-77", "8000000001"],
          assetExtendList: [
            { extendCode: "gxxp", extendValue: "1" },
            { extendCode: "region", extendValue: "" },
          ],
          limitStartDate: 1767225600000,
          limitEndDate: 1798761600000,
          borrowedUsbKey: false,
          transferedAssetNum: true,
          products: [
            {
              crmProductId: "P-1",
              parentCrmProductId: "A-1",
              productUri: "gms-1",
              productName: "Estimating",
              gmsPid: "gms-1",
              appKey: "app-1",
              productType: "tool",
              limitStartDate: 20260101,
              limitEndDate: 20270101,
              limitConcurrent: 25,
              limitTimeDuration: 3600,
              strictMatchWhenDelete: true,
              trial: 0,
              trialEndDate: -1,
              passwords: ["0012", "licence-canary"],
              timeUnit: "YEAR",
              timeUnitQuantity: 1,
              timeDurationExpression: "1-0-0",
              srcLicenseOrderId: "L-900",
              productFeatures: [
                {
                  featureCode: "F-1",
                  featureName: "Layers",
                  featureValue: "12",
                  featureValueType: "int",
                  trial: 0,
                  trialEndDate: null,
                },
                {
                  featureCode: "F-2",
                  featureName: "Export",
                  featureValue: "",
                  featureValueType: "text",
                  trial: 1,
                  trialEndDate: "2026-02-01T00:00:00.000Z",
                },
              ],
            },
            {
              crmProductId: "P-2",
              parentCrmProductId: "A-1",
              productUri: "app-2",
              productName: "Viewer",
              appKey: "app-2",
              productType: "webapp",
              limitConcurrent: 0,
              limitTimeDuration: 0,
              strictMatchWhenDelete: true,
              trial: 1,
              trialEndDate: 1769904000,
              timeUnit: "NONE",
              timeUnitQuantity: 0,
              timeDurationExpression: "0-0-0",
              productFeatures: [],
            },
          ],
        },
      ],
    },
  ],
};

/** A product as the shorter bodies hold it: one node, one year, no trial. */
function product(id: string, parent: string) {
  return {
    crmProductId: id,
    parentCrmProductId: parent,
    productUri: `pid-${id}`,
    productName: `Product ${id}`,
    gmsPid: `pid-${id}`,
    productType: "tool",
    limitConcurrent: 1,
    limitTimeDuration: 0,
    strictMatchWhenDelete: true,
    trial: 0,
    trialEndDate: -1,
    timeUnit: "YEAR",
    timeUnitQuantity: 1,
    timeDurationExpression: "1-0-0",
    productFeatures: [],
  };
}

/** Packages three levels deep beside a product of the asset's own; `children` is null on the lowest level. */
export const packagesBody = {
  channelCode: "CH1",
  channelOrderId: "10249",
  syncMode: "sync",
  orderList: [
    {
      sequence: 1,
      customerId: "C-default",
      ...identifying,
      licenseType: "cloud_account",
      orderType: "new_buy",
      assets: [
        {
          assetNos: ["8000000002"],
          products: [product("P-0", "A-2")],
          merchandises: [
            {
              crmProductId: "K-1",
              parentCrmProductId: "A-2",
              merchandiseNum: "N-K-1",
              merchandiseName: "Package K-1",
              parentMerchandiseNum: "ROOT",
              timeDurationExpression: "1-0-0",
              children: [
                {
                  crmProductId: "K-2",
                  parentCrmProductId: "K-1",
                  merchandiseNum: "N-K-2",
                  merchandiseName: "Package K-2",
                  parentMerchandiseNum: "N-K-1",
                  timeDurationExpression: "1-0-0",
                  children: [
                    {
                      crmProductId: "K-3",
                      parentCrmProductId: "K-2",
                      merchandiseNum: "N-K-3",
                      merchandiseName: "Package K-3",
                      parentMerchandiseNum: "N-K-2",
                      timeDurationExpression: "1-0-0",
                      children: null,
                      licenseOrderProductList: [product("P-3", "K-3")],
                    },
                  ],
                  licenseOrderProductList: [],
                },
              ],
              licenseOrderProductList: [product("P-1", "K-1")],
            },
            {
              crmProductId: "K-9",
              parentCrmProductId: "A-2",
              merchandiseNum: "N-K-9",
              merchandiseName: "Package K-9",
              parentMerchandiseNum: "ROOT",
              timeDurationExpression: "1-0-0",
              children: null,
              licenseOrderProductList: [product("P-9", "K-9")],
            },
          ],
        },
      ],
    },
  ],
};

/** Two licence types in one CRM order: one call, two order records, each with its own customer. */
export const twoTypesBody = {
  channelCode: "CH1",
  channelOrderId: "10250",
  syncMode: "sync",
  orderList: [
    {
      sequence: 1,
      customerId: "C-industry",
      ...identifying,
      licenseType: "cloud_account",
      orderType: "new_buy",
      assets: [
        { assetNos: ["8000000003"], products: [product("P-B", "A-B")] },
        { assetNos: ["8000000005"], products: [product("P-C", "A-C")] },
      ],
    },
    {
      sequence: 2,
      customerId: "C-default",
      ...identifying,
      licenseType: "softkey",
      orderType: "new_buy",
      assets: [{ assetNos: ["8000000004"], products: [product("P-A", "A-A")] }],
    },
  ],
};
