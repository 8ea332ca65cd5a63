import type { Resource } from "../../engine/model/resource.ts";
import { compare } from "./observe.ts";
import { reads } from "./leavers.ts";
import { types } from "./operations.ts";
import { plan, planLast } from "./plan.ts";
import { differing } from "./profile.ts";
import { passwordRequest } from "./request.ts";
import { state } from "./state.ts";
import { undo, undoFacts } from "./undo.ts";

export const staff = {
  name: "staff",
  types,
  state,
  requests: { password: passwordRequest },
  asked: { plan: "people", planLast: "leavers", reads: "unsettledPeople" },
  reads,
  plan,
  planLast,
  differing,
  compare,
  undo,
  undoFacts,
} as const satisfies Resource<
  "add-staff" | "edit-staff" | "delete-staff" | "reset-password",
  "staff-linked" | "staff-edited" | "staff-unlinked",
  "password"
>;
