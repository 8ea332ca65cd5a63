import { hashOf, toJson } from "../base/canonical-json.ts";
import type { Policies } from "../operation/policy.ts";
import { kinds } from "../operation/registry.ts";

/** Raised where records that wait for nothing that happens by itself would be decided otherwise than before. */
const generation = 1;

/**
 * What records are decided by, as one text: where it changes, what waits for no change of its own is looked at once
 * more, since the program may do by now what it only told of.
 */
export function rulesOf(policies: Policies): string {
  return hashOf([generation, Object.keys(kinds).sort(), toJson(policies)]);
}
