import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { isReference } from "../../engine/model/references.ts";
import type { SentItem } from "../../report/reconciliation/case.ts";
import { isJsonObject } from "../../base/canonical-json.ts";

/** A package as it was sent in an E5. */
export interface SentPackage extends SentItem {
  /** Ids of the products in it and in all lower ones; where there are none, of those in the package around it. */
  inside: readonly string[];
}

/** What an E5 carried, flat: each product and each package under each of its asset numbers. */
interface SentOrder {
  products: SentItem[];
  packages: SentPackage[];
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
        visitPackages(objects(asset["merchandises"]), add);
      }
    }
  }
  return sent;
}

interface Add {
  product: (item: JsonObject) => void;
  package: (item: JsonObject, of: { root: boolean; inside: readonly string[] }) => void;
}

function visitPackages(packages: readonly JsonObject[], add: Add, around?: readonly string[]): void {
  for (const item of packages) {
    const own = productsUnder(item);
    const inside = own.length > 0 ? own : (around ?? []);
    add.package(item, { root: around === undefined, inside });
    for (const product of objects(item["licenseOrderProductList"])) add.product(product);
    visitPackages(objects(item["children"]), add, inside);
  }
}

function productsUnder(item: JsonObject): string[] {
  return [
    ...objects(item["licenseOrderProductList"]).map((product) => textOf(product["crmProductId"])),
    ...objects(item["children"]).flatMap((child) => productsUnder(child)),
  ];
}

function productInto(items: SentItem[], assetNumber: string, licenseType: string): (product: JsonObject) => void {
  return (product) => {
    const { passwords: _passwords, ...fields } = product;
    items.push({ id: textOf(product["crmProductId"]), assetNumber, licenseType, fields });
  };
}

function packageInto(items: SentPackage[], assetNumber: string, licenseType: string): Add["package"] {
  return (item, { root, inside }) => {
    const { children: _children, licenseOrderProductList: _products, ...fields } = item;
    const id = textOf(item["merchandiseNum"]);
    items.push({ id, assetNumber, licenseType, fields: { ...fields, root }, inside });
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
