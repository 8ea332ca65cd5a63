import type { UndoRule } from "../../engine/plan/undoing.ts";
import { impossible } from "../../engine/plan/undoing.ts";
import { undoDeletion, undoPurchase } from "./undo-orders.ts";
import type { kinds } from "./kinds.ts";

export const undo: { readonly [K in keyof typeof kinds]?: UndoRule<K> } = {
  "place-order": undoPurchase,
  "amend-order": undoPurchase,
  "delete-products": undoDeletion,
  "delete-package-products": undoDeletion,
  "delete-assets": undoDeletion,
  // What the ledger had recorded of it is named, so that a person can buy it again.
  "delete-everywhere": (row) => {
    const known = row.operation.after.products.map(
      ({ crmProductId, assetId }) => `${crmProductId} of the asset ${assetId}`,
    );
    const { is, why } = impossible(row.operation.kind);
    return { is, why: `${why}; the ledger knew of ${known.join(", ")}` };
  },
};
