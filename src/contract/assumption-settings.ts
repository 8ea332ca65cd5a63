import { z } from "zod";
import { rows } from "./assumptions/registry.ts";

/**
 * What the contracts leave open, as settings (A1–A43): the keys of all rows. Keys without a default stay absent until
 * somebody knows the answer: `missingAssumptions` says which endpoint needs them.
 */
export const assumptionSettingsSchema = z.strictObject(rows.shape);
export type AssumptionSettings = z.infer<typeof assumptionSettingsSchema>;

/** The channel codes under which E3 looks for a customer, the own one first (A9). */
export function channelCodesOf(settings: Pick<AssumptionSettings, "channelCode" | "otherChannelCodes">): string[] {
  const own = settings.channelCode === undefined ? [] : [settings.channelCode];
  return [...new Set([...own, ...settings.otherChannelCodes])];
}
