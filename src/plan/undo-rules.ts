import { kindOf } from "../engine/registry.ts";
import type { OperationName } from "../engine/resource.ts";
import type { kinds } from "../operation/kinds.ts";
import type { DoneOperation, Undoes, UndoRule } from "./undoing.ts";
import { undoDeletion, undoPurchase } from "./undo-orders.ts";
import { undoAddition, undoDeletedAccount, undoProfile } from "./undo-people.ts";

/** How an operation of each kind is taken back, but for those of a resource with a folder. */
export const undoRules: { readonly [K in keyof typeof kinds]?: UndoRule<K> } = {
  "place-order": undoPurchase,
  "amend-order": undoPurchase,
  "delete-products": undoDeletion,
  "delete-package-products": undoDeletion,
  "delete-assets": undoDeletion,
  "delete-everywhere": impossibleButFor,
  "add-staff": undoAddition,
  "edit-staff": undoProfile,
  "delete-staff": undoDeletedAccount,
};

/** What no operation takes back. */
export function impossible(kind: OperationName): Extract<Undoes, { is: "impossible" }> {
  const { undone } = kindOf({ kind });
  return { is: "impossible", why: undone.how === "impossible" ? undone.why : "no call takes it back" };
}

/** What the ledger had standing of it is named, so that a person can buy it again. */
function impossibleButFor(row: DoneOperation<"delete-everywhere">): Undoes {
  const known = row.operation.after.products.map(
    ({ crmProductId, assetId }) => `${crmProductId} of the asset ${assetId}`,
  );
  const { is, why } = impossible(row.operation.kind);
  return { is, why: `${why}; the ledger knew of ${known.join(", ")}` };
}
