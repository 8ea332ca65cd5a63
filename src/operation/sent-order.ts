import type { Json, JsonObject } from "../base/canonical-json.ts";
import { isReference } from "./references.ts";
import type { SentItem } from "../report/reconciliation/case.ts";
import { isJsonObject } from "../base/canonical-json.ts";

/** What an E5 carried, flat: each product and each package under each of its asset numbers. */
interface SentOrder {
  products: SentItem[];
  packages: SentItem[];
}

/**
 * Reads the unbound payload of an E5. `numberOf` gives the number that a unit was bound to; a unit without one was
 * never sent. Values that the contract does not let anybody read back stay in `fields`; licence passwords do not.
 */
export function sentItems(payload: JsonObject, numberOf: (unit: string) => string | undefined): SentOrder {
  const sent: SentOrder = { products: [], packages: [] };
  for (const record of objects(payload["orderList"])) {
    const licenseType = textOf(record["licenseType"]);
    for (const asset of objects(record["assets"])) {
      for (const assetNumber of numbersOf(asset["assetNos"], numberOf)) {
        const add = {
          product: productInto(sent.products, assetNumber, licenseType),
          package: packageInto(sent.packages, assetNumber, licenseType),
        };
        for (const product of objects(asset["products"])) add.product(product);
        visitPackages(objects(asset["merchandises"]), add, true);
      }
    }
  }
  return sent;
}

function visitPackages(
  packages: readonly JsonObject[],
  add: { product: (item: JsonObject) => void; package: (item: JsonObject, root: boolean) => void },
  root: boolean,
): void {
  for (const item of packages) {
    add.package(item, root);
    for (const product of objects(item["licenseOrderProductList"])) add.product(product);
    visitPackages(objects(item["children"]), add, false);
  }
}

function productInto(items: SentItem[], assetNumber: string, licenseType: string): (product: JsonObject) => void {
  return (product) => {
    const { passwords: _passwords, ...fields } = product;
    items.push({ id: textOf(product["crmProductId"]), assetNumber, licenseType, fields });
  };
}

function packageInto(
  items: SentItem[],
  assetNumber: string,
  licenseType: string,
): (item: JsonObject, root: boolean) => void {
  return (item, root) => {
    const { children: _children, licenseOrderProductList: _products, ...fields } = item;
    items.push({ id: textOf(item["merchandiseNum"]), assetNumber, licenseType, fields: { ...fields, root } });
  };
}

function numbersOf(value: Json | undefined, numberOf: (unit: string) => string | undefined): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const number =
      typeof item === "string"
        ? item
        : isReference(item) && item.$ref === "assetNumber"
          ? numberOf(item.of)
          : undefined;
    return number === undefined ? [] : [number];
  });
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}
