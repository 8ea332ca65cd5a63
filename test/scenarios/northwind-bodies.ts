/**
 * Three E5 bodies, written by hand from the contract (E5, "Batch-order input records") and from Northwind's own rows.
 * What the platform hands out (customer, enterprise, asset number) is given.
 */
export interface HandedOut {
  customerId: string;
  enterpriseGlobalId: string;
  assetNumber: string;
}

const notInTheData = {
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

/** VINET's order 10248: three lines. */
export function order10248({ customerId, enterpriseGlobalId, assetNumber }: HandedOut): unknown {
  return {
    channelCode: "crm",
    channelOrderId: "10248",
    syncMode: "sync",
    orderList: [
      {
        sequence: 1,
        customerId,
        crmCustomerId: "VINET",
        customerName: "Vins et alcools Chevalier",
        channelCustomerId: "VINET",
        adminName: "Paul Henriot",
        adminAccount: "vinet",
        adminEmail: "VINET@northwind.example.com",
        adminCellNumber: "+10000000000",
        passwordMobile: "+10000000000",
        address: "59 rue de l'Abbaye, 51100, Reims, France",
        customerType: "company",
        branchCode: "NW",
        branchName: "Northwind",
        enterpriseGlobalId,
        licenseType: "cloud_account",
        orderType: "new_buy",
        assets: [
          {
            assetNos: [assetNumber],
            products: [
              {
                crmProductId: "10248-11",
                parentCrmProductId: "A-10248",
                productUri: "NW-11",
                gmsPid: "NW-11",
                productName: "Queso Cabrales",
                limitConcurrent: 12,
                ...notInTheData,
              },
              {
                crmProductId: "10248-42",
                parentCrmProductId: "A-10248",
                productUri: "NW-42",
                gmsPid: "NW-42",
                productName: "Singaporean Hokkien Fried Mee",
                limitConcurrent: 10,
                ...notInTheData,
              },
              {
                crmProductId: "10248-72",
                parentCrmProductId: "A-10248",
                productUri: "NW-72",
                gmsPid: "NW-72",
                productName: "Mozzarella di Giovanni",
                limitConcurrent: 5,
                ...notInTheData,
              },
            ],
          },
        ],
      },
    ],
  };
}

/** HANAR's order 10250: an address with a comma that nothing quotes, and a region. */
export function order10250({ customerId, enterpriseGlobalId, assetNumber }: HandedOut): unknown {
  return {
    channelCode: "crm",
    channelOrderId: "10250",
    syncMode: "sync",
    orderList: [
      {
        sequence: 1,
        customerId,
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
        enterpriseGlobalId,
        licenseType: "cloud_account",
        orderType: "new_buy",
        assets: [
          {
            assetNos: [assetNumber],
            products: [
              {
                crmProductId: "10250-41",
                parentCrmProductId: "A-10250",
                productUri: "NW-41",
                gmsPid: "NW-41",
                productName: "Jack's New England Clam Chowder",
                limitConcurrent: 10,
                ...notInTheData,
              },
              {
                crmProductId: "10250-51",
                parentCrmProductId: "A-10250",
                productUri: "NW-51",
                gmsPid: "NW-51",
                productName: "Manjimup Dried Apples",
                limitConcurrent: 35,
                ...notInTheData,
              },
              {
                crmProductId: "10250-65",
                parentCrmProductId: "A-10250",
                productUri: "NW-65",
                gmsPid: "NW-65",
                productName: "Louisiana Fiery Hot Pepper Sauce",
                limitConcurrent: 15,
                ...notInTheData,
              },
            ],
          },
        ],
      },
    ],
  };
}

/** BSBEV's order 10289: an apostrophe in the name, a letter outside ASCII in a product, no region. */
export function order10289({ customerId, enterpriseGlobalId, assetNumber }: HandedOut): unknown {
  return {
    channelCode: "crm",
    channelOrderId: "10289",
    syncMode: "sync",
    orderList: [
      {
        sequence: 1,
        customerId,
        crmCustomerId: "BSBEV",
        customerName: "B's Beverages",
        channelCustomerId: "BSBEV",
        adminName: "Victoria Ashworth",
        adminAccount: "bsbev",
        adminEmail: "BSBEV@northwind.example.com",
        adminCellNumber: "+10000000000",
        passwordMobile: "+10000000000",
        address: "Fauntleroy Circus, EC2 5NT, London, UK",
        customerType: "company",
        branchCode: "NW",
        branchName: "Northwind",
        enterpriseGlobalId,
        licenseType: "cloud_account",
        orderType: "new_buy",
        assets: [
          {
            assetNos: [assetNumber],
            products: [
              {
                crmProductId: "10289-3",
                parentCrmProductId: "A-10289",
                productUri: "NW-3",
                gmsPid: "NW-3",
                productName: "Aniseed Syrup",
                limitConcurrent: 30,
                ...notInTheData,
              },
              {
                crmProductId: "10289-64",
                parentCrmProductId: "A-10289",
                productUri: "NW-64",
                gmsPid: "NW-64",
                productName: "Wimmers gute Semmelknödel",
                limitConcurrent: 9,
                ...notInTheData,
              },
            ],
          },
        ],
      },
    ],
  };
}
