import { policySettingsSchema } from "../../../src/engine/model/policy-settings.ts";

/** What is done of each kind of change where a configuration says nothing. */
export const standardPolicies = policySettingsSchema.parse({});

/** What a plan is made with beside its settings, where nothing stops anything. */
export const standardRules = {
  canSeal: true,
  policies: standardPolicies,
  removalsBlocked: undefined,
  contradicted: new Map(),
};
