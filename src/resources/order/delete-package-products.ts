import { deleteProducts } from "./delete-products.ts";
import type { DeletionShapes } from "./deletion.ts";
import type { Kind } from "../../engine/kind.ts";

/**
 * E5 takes products out of a package of which other products stay, or which goes from an asset that stays: what becomes
 * of the rest nobody knows, so a person approves each very one of these calls (A42).
 */
export const deletePackageProducts: Kind<DeletionShapes> = {
  ...deleteProducts,
  approvedAlone: true,
  restsOn: [...deleteProducts.restsOn, "A42"],
};
