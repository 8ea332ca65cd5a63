import { z } from "zod";

import { serviceSettingsSchema } from "../http/http-settings.ts";

export const orderServiceSettingsSchema = serviceSettingsSchema.extend({
  appKey: z
    .string()
    .min(1)
    .meta({ description: "Application key, sent with orders", examples: ["0012"] }),
});
export type OrderServiceSettings = z.infer<typeof orderServiceSettingsSchema>;

export const memberCenterSettingsSchema = serviceSettingsSchema;
export type MemberCenterSettings = z.infer<typeof memberCenterSettingsSchema>;
