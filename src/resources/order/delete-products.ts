import { deletion } from "./deletion.ts";
import type { DeletionShapes } from "./deletion.ts";
import type { Kind } from "../../engine/kind.ts";

/**
 * E5 takes products out of assets, each of the licence order that granted it and with the limits and nodes that M7
 * shows now.
 */
export const deleteProducts: Kind<DeletionShapes> = {
  ...deletion,
};
