import { z } from "zod";

const plannedAsset = z.object({
  id: z.string(),
  licenseType: z.string(),
  quantity: z.int(),
  given: z.array(z.string()),
});
/** An asset instance that an order brings: how many numbers it needs, and those that the CRM gave. */
export type PlannedAsset = z.infer<typeof plannedAsset>;

/** What a plan says an order will be, in `after`. */
export const plannedOrder = z.object({ version: z.int(), bodyHash: z.string(), assets: z.array(plannedAsset) });
