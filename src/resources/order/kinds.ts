import type { Kind } from "../../engine/kind.ts";
import { placeOrder } from "./place-order.ts";
import { amendOrder } from "./amend-order.ts";
import { deleteProducts } from "./delete-products.ts";
import { deletePackageProducts } from "./delete-package-products.ts";
import { deleteAssets } from "./delete-assets.ts";
import { deleteEverywhere } from "./delete-everywhere.ts";
import { takeAssetNumbers } from "./take-asset-numbers.ts";

/** Its operation types. */
export const kinds = {
  "place-order": placeOrder,
  "amend-order": amendOrder,
  "delete-products": deleteProducts,
  "delete-package-products": deletePackageProducts,
  "delete-assets": deleteAssets,
  "delete-everywhere": deleteEverywhere,
  "take-asset-numbers": takeAssetNumbers,
};

type ShapesIn<One> = One extends Kind<infer S> ? S : never;
type KindShapes = { [K in keyof typeof kinds]: ShapesIn<(typeof kinds)[K]> };

declare module "../../engine/resource.ts" {
  interface OperationShapes extends KindShapes {}
}
