import type { Enterprise } from "./caller.ts";

type Fields = Record<string, unknown>;

/** A feature of a product, whole. */
export function feature(changes: Fields = {}): Fields {
  return {
    featureCode: "F1",
    featureName: "Feature",
    featureValue: "10",
    featureValueType: "number",
    trial: 0,
    trialEndDate: 0,
    ...changes,
  };
}

/** A product of E5, whole; `undefined` leaves a field out. */
export function product(crmProductId: string, changes: Fields = {}): Fields {
  return {
    crmProductId,
    parentCrmProductId: "ASSET-1",
    productUri: `pid-${crmProductId}`,
    productName: `Product ${crmProductId}`,
    gmsPid: `pid-${crmProductId}`,
    productType: "tool",
    limitStartDate: 1_800_000_000_000,
    limitEndDate: 1_900_000_000_000,
    limitConcurrent: 5,
    limitTimeDuration: 0,
    strictMatchWhenDelete: true,
    trial: 0,
    trialEndDate: 0,
    timeUnit: "year",
    timeUnitQuantity: 1,
    timeDurationExpression: "1-0-0",
    productFeatures: [],
    ...changes,
  };
}

/** A package of E5 on the lowest level. */
export function merchandise(crmProductId: string, changes: Fields = {}): Fields {
  return {
    crmProductId,
    parentCrmProductId: "ASSET-1",
    merchandiseNum: `num-${crmProductId}`,
    merchandiseName: `Package ${crmProductId}`,
    parentMerchandiseNum: "",
    timeDurationExpression: "1-0-0",
    children: null,
    licenseOrderProductList: [product(`${crmProductId}-P`, { parentCrmProductId: crmProductId })],
    ...changes,
  };
}

export function asset(assetNos: string[], changes: Fields = {}): Fields {
  return { assetNos, products: [product("P1")], ...changes };
}

function identifying(enterprise: Enterprise): Fields {
  return {
    customerName: "Customer",
    channelCustomerId: enterprise.crmCustomerId,
    adminName: "Ada",
    adminAccount: "ada",
    adminEmail: "ada@example.org",
    adminCellNumber: "123456789",
    customerType: "company",
    branchCode: "B1",
    branchName: "Branch",
    enterpriseGlobalId: enterprise.enterpriseGlobalId,
  };
}

/** An order record of new_buy, whole. */
export function newBuy(enterprise: Enterprise, changes: Fields = {}): Fields {
  return {
    sequence: 1,
    customerId: enterprise.customerId,
    crmCustomerId: enterprise.crmCustomerId,
    ...identifying(enterprise),
    passwordMobile: "123456789",
    address: "Street 1",
    licenseType: "normal_recover_usbkey",
    orderType: "new_buy",
    assets: [asset(["A-1"])],
    ...changes,
  };
}

/** A deletion with the fields that the contract lists for it. */
export function deletion(enterprise: Enterprise, changes: Fields = {}): Fields {
  return {
    sequence: 1,
    ...identifying(enterprise),
    licenseType: "normal_recover_usbkey",
    orderType: "delete_product",
    assets: [{ assetNos: ["A-1"], products: [deletedProduct("P1")] }],
    ...changes,
  };
}

export function deletedProduct(crmProductId: string, changes: Fields = {}): Fields {
  return {
    crmProductId,
    productUri: `pid-${crmProductId}`,
    limitStartDate: 1_800_000_000_000,
    limitEndDate: 1_900_000_000_000,
    limitConcurrent: 5,
    strictMatchWhenDelete: true,
    ...changes,
  };
}

export function batch(channelOrderId: string, orderList: Fields[], changes: Fields = {}): Fields {
  return { channelCode: "crm", channelOrderId, syncMode: "sync", orderList, ...changes };
}
