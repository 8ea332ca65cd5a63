import { z } from "zod";

const plannedAsset = z.object({
  id: z.string(),
  licenseType: z.string(),
  quantity: z.int(),
  given: z.array(z.string()),
  /** Which units they are; the first ones where it is not said. */
  units: z.array(z.int()).optional(),
});
/** An asset instance that an order brings: how many numbers it needs, and those that the CRM gave. */
export type PlannedAsset = z.infer<typeof plannedAsset>;

/** The units of an asset instance that need numbers. */
export function unitsOf({ quantity, units }: Pick<PlannedAsset, "quantity" | "units">): number[] {
  return units ?? Array.from({ length: quantity }, (_, unit) => unit);
}

/** What a plan says an order will be, in `after`. */
export const plannedOrder = z.object({ version: z.int(), bodyHash: z.string(), assets: z.array(plannedAsset) });
