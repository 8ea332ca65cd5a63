import type { EngineDependencies } from "../../engine/customer.ts";
import { types } from "./operations.ts";
import { plan } from "./plan.ts";
import { NumberPool } from "./pool.ts";
import { state } from "./state.ts";
import { absentProducts as absent, reads } from "./needs.ts";
import { seek } from "./seek.ts";
import { undo, undoFacts, undoGiven } from "./undo.ts";

export { numbersOfInstance, unitsNamed } from "./model.ts";

export const order = {
  name: "order",
  types,
  state,
  asked: { plan: "orders", reads: "standings" },
  reads,
  absent,
  seek,
  numbers: (deps: EngineDependencies) => new NumberPool(deps),
  plan,
  undo,
  undoFacts,
  undoGiven,
} as const;
