import { hashOf, toJson } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { Policies } from "../model/policy.ts";
import { operationNames } from "../model/registry.ts";

/** Raised where records that wait for nothing that happens by itself would be decided otherwise than before. */
const generation = 1;

interface Rules {
  policies: Policies;
  settings: AssumptionSettings;
  /** A sealing key is configured. */
  canSeal: boolean;
}

/**
 * What records are decided by, as one text: where it changes, what waits for no change of its own, or cannot be used,
 * is looked at once more. The program may do by now what it only told of, and a service may take what it refused.
 */
export function rulesOf({ policies, settings, canSeal }: Rules): string {
  return hashOf([generation, operationNames().sort(), toJson(policies), toJson(settings), canSeal]);
}
