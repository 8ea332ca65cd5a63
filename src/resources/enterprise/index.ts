import type { Resource } from "../../engine/model/resource.ts";
import { types } from "./operations.ts";
import { plan, reads } from "./plan.ts";
import { state } from "./state.ts";
import { undo, undoFacts } from "./undo.ts";

export const enterprise = {
  name: "enterprise",
  types,
  state,
  reads,
  plan,
  undo,
  undoFacts,
} as const satisfies Resource<"bind-enterprise" | "create-enterprise" | "update-enterprise">;
