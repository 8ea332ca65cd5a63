import type { Resource } from "../../engine/model/resource.ts";
import { types } from "./operations.ts";
import { plan } from "./plan.ts";
import { requests, undo } from "./request.ts";

export const lock = {
  name: "lock",
  types,
  requests,
  asked: { plan: "switches" },
  plan,
  undo,
} as const satisfies Resource<"lock-assets" | "unlock-assets", never, "lock">;
