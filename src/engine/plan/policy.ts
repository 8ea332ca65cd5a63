import { policyOf } from "../policy.ts";
import type { Policies, PolicyName } from "../policy.ts";
import type { Block } from "./block.ts";

/**
 * Whether a planner goes on with a change: `act` where an operation is made of it, which the gate of the run may still
 * hold; `nothing` where it is ignored; or the block of a record that is only told of. `what` says what would be done.
 */
export function consider(policies: Policies, name: PolicyName, what: string): "act" | "nothing" | Block {
  const word = policyOf(policies, name);
  if (word === "ignore") return "nothing";
  if (word !== "report") return "act";
  return {
    code: "policy.reported",
    reason: `${what}; policies.${name} is report, so crm-sync only reports this`,
    again: false,
  };
}
