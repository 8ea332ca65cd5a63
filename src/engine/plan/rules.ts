import { hashOf, toJson } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { Policies } from "../model/policy.ts";
import { operationNames } from "../model/registry.ts";

/** Increase this if waiting records need a new decision although nothing else changed. */
const generation = 1;

interface Rules {
  policies: Policies;
  settings: AssumptionSettings;
  canSeal: boolean;
}

/**
 * A hash of everything that decides records. If it changes, the next run looks again at waiting and unusable records.
 * The program may now make a change that it only reported, and a service may accept one that it rejected.
 */
export function rulesOf({ policies, settings, canSeal }: Rules): string {
  return hashOf([generation, operationNames().sort(), toJson(policies), toJson(settings), canSeal]);
}
