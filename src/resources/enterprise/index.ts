import type { Resource } from "../../engine/model/resource.ts";
import { types } from "./operations.ts";
import { plan } from "./plan.ts";
import { state } from "./state.ts";
import { undo, undoFacts } from "./undo.ts";

/** The enterprise of a customer on the platform (E1, E2 and E4; read by E3). */
export const enterprise = {
  name: "enterprise",
  types,
  state,
  reads: ({ known, desiredCustomer }) => ({
    enterprises: known.link === undefined && known.unlinked === undefined && desiredCustomer?.state === "current",
  }),
  plan: (given, { make }, options) => plan(given, make, options),
  undo,
  undoFacts,
} as const satisfies Resource<"bind-enterprise" | "create-enterprise" | "update-enterprise">;
