import { expect, it } from "vitest";
import {
  holdsPasswords,
  type MerchandiseRecord,
  type OrderRecord,
  type ProductRecord,
} from "../../../src/resources/order/shapes.ts";
import { sentProduct } from "../../support/world/records.ts";

const open: ProductRecord = { ...sentProduct("p1", "a1"), passwords: undefined };
const secret: ProductRecord = {
  ...open,
  passwords: { $private: "orders/crm/1", field: "instances[p1].passwords", version: 1, commitment: "c" },
};

function packageOf(products: ProductRecord[], children: MerchandiseRecord[] | null = null): MerchandiseRecord {
  const numbers = {
    merchandiseNum: "N",
    merchandiseName: "M",
    parentMerchandiseNum: "0",
    timeDurationExpression: "1-0-0",
  };
  return { crmProductId: "k", parentCrmProductId: "a1", ...numbers, licenseOrderProductList: products, children };
}

function recordWith(products: ProductRecord[], merchandises?: MerchandiseRecord[]): OrderRecord {
  return {
    sequence: 1,
    customerId: "c1",
    crmCustomerId: "C1",
    channelCustomerId: "C1",
    customerType: "company",
    branchCode: "b",
    branchName: "B",
    enterpriseGlobalId: "e1",
    licenseType: "softkey",
    orderType: "new_buy",
    assets: [
      { assetNos: ["8000000000"], products: [open] },
      { assetNos: ["8000000001"], products, ...(merchandises === undefined ? {} : { merchandises }) },
    ],
  };
}

it("licence passwords are found wherever a product of an order record stands", () => {
  expect(holdsPasswords(recordWith([open]))).toBe(false);
  expect(holdsPasswords(recordWith([open, secret]))).toBe(true);
  expect(holdsPasswords(recordWith([open], [packageOf([open]), packageOf([open, secret])]))).toBe(true);
  expect(holdsPasswords(recordWith([open], [packageOf([open], [packageOf([open], [packageOf([secret])])])]))).toBe(
    true,
  );
  expect(holdsPasswords(recordWith([open], [packageOf([open], [packageOf([open])])]))).toBe(false);
});
