import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { Contradictions } from "../assumptions-met.ts";
import type { Policies } from "../policy.ts";
import type { Block } from "./block.ts";
import type { RepairSettings } from "./drift.ts";

/** What a plan is made with beside its input. */
export interface PlanOptions {
  settings: AssumptionSettings;
  /** Whether initial passwords can be sealed (A30). */
  canSeal: boolean;
  /** What is done of each kind of change. */
  policies: Policies;
  /** Why nothing may be taken away in this run: an incomplete or shrunken source. */
  takingBlocked: Block | undefined;
  /** Assumptions that the services contradicted: what rests on one is not planned. */
  contradicted: Contradictions;
  /** Hashes of operations that a person rejected: none of them is planned again as it was. */
  rejected?: ReadonlySet<string> | undefined;
  /** How what was read back otherwise than it was left is repaired; left out: nothing of it is. */
  repairs?: RepairSettings | undefined;
  /** Subjects of what was carried out in this attempt already, for what is tried once in an attempt. */
  tried?: ReadonlySet<string> | undefined;
}
