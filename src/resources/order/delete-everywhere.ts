import { deleteEverywhereRequestSchema } from "../../contract/order-record.ts";
import { deletion, prepareDeletion } from "./deletion.ts";
import type { DeletionShapes } from "./deletion.ts";
import type { Kind } from "../../engine/kind.ts";

/**
 * E5 takes a product away whose licence order nobody knows: out of all orders of the customer. A person approves each
 * very one of these calls, with a reason, and what became of a lost one a person finds out.
 */
export const deleteEverywhere: Kind<DeletionShapes> = {
  ...deletion,
  approvedAlone: true,
  prepare: (bound) => prepareDeletion(bound, deleteEverywhereRequestSchema),
  undone: { how: "impossible", why: "nobody knows all that it took out of the orders of the customer" },
  notFound: () =>
    Promise.resolve({
      kind: "park",
      reason:
        "the platform still shows what a deletion without a licence order was to take out of all orders of the " +
        "customer; a person looks and decides",
    }),
};
