import { addStaff } from "./add-staff.ts";
import { amendOrder } from "./amend-order.ts";
import { deleteStaff } from "./delete-staff.ts";
import { editStaff } from "./edit-staff.ts";
import { deleteAssets } from "./delete-assets.ts";
import { deleteEverywhere } from "./delete-everywhere.ts";
import { deletePackageProducts } from "./delete-package-products.ts";
import { deleteProducts } from "./delete-products.ts";
import type { Kind } from "./kind.ts";
import { placeOrder } from "./place-order.ts";
import { resetPassword } from "./reset-password.ts";
import { takeAssetNumbers } from "./take-asset-numbers.ts";

/** The operation types that no resource folder has yet. */
export const kinds = {
  "place-order": placeOrder,
  "amend-order": amendOrder,
  "delete-products": deleteProducts,
  "delete-package-products": deletePackageProducts,
  "delete-assets": deleteAssets,
  "delete-everywhere": deleteEverywhere,
  "add-staff": addStaff,
  "edit-staff": editStaff,
  "delete-staff": deleteStaff,
  "reset-password": resetPassword,
  "take-asset-numbers": takeAssetNumbers,
};

type ShapesIn<One> = One extends Kind<infer S> ? S : never;
type KindShapes = { [K in keyof typeof kinds]: ShapesIn<(typeof kinds)[K]> };

declare module "../engine/resource.ts" {
  interface OperationShapes extends KindShapes {}
}
