import type { Resource } from "../../engine/model/resource.ts";
import { types } from "./operations.ts";
import { plan, reads, requests } from "./plan.ts";

export { loanOf } from "./plan.ts";

export const loan = {
  name: "loan",
  types,
  requests,
  asked: { plan: "people", reads: "unsettledPeople" },
  reads,
  plan,
  undo: {},
} as const satisfies Resource<"borrow-assets", never, "loan">;
