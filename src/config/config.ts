import type { z } from "zod";
import type { Problem, Result } from "../base/errors.ts";
import { assumptionSettingsSchema } from "../contract/assumption-settings.ts";
import { memberCenterSettingsSchema, orderServiceSettingsSchema } from "../platform/service-settings.ts";
import { sourceSettingsSchema } from "../source/source-settings.ts";
import { loadWith, type Loaded, type LoadRequest } from "./load.ts";
import { composeSchema } from "./schema.ts";

export const configSchema = composeSchema({
  orderService: orderServiceSettingsSchema.describe("The order service (E1–E9)."),
  memberCenter: memberCenterSettingsSchema.describe("The member-center (M1–M10)."),
  assumptions: assumptionSettingsSchema
    .prefault({})
    .describe("Open points of the contracts (A1–A43); `crm-sync check` names what still needs an answer."),
  source: sourceSettingsSchema,
});

/** Contains secrets only as references. */
export type Config = z.output<typeof configSchema>;

export function loadConfig(request: LoadRequest): Result<Loaded<Config>, Problem[]> {
  return loadWith(configSchema, request);
}
