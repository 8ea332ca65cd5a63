import type { Resource } from "../../engine/model/resource.ts";
import { compare } from "./compare.ts";
import { explain } from "./explain.ts";
import { adopt, reads, seats } from "./observe.ts";
import { types } from "./operations.ts";
import { plan } from "./plan.ts";
import { state } from "./state.ts";
import { undo, undoFacts } from "./undo.ts";

export const assignment = {
  name: "assignment",
  types,
  state,
  asked: { plan: "people", reads: "unsettledPeople" },
  reads,
  seats,
  plan,
  adopt,
  compare,
  undo,
  undoFacts,
  explain,
} as const satisfies Resource<"grant-assets" | "revoke-assets", "asset-granted" | "asset-revoked">;
