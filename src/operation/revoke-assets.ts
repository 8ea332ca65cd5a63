import { formatKey } from "../crm/keys.ts";
import { z } from "zod";
import { assetSchemas, configureAssets, lookForHolder } from "./configure-assets.ts";
import type { Kind } from "./kind.ts";
import type { Meant, ShapesOf } from "./shape.ts";

/** Before: who holds each of the numbers. */
const schemas = { ...assetSchemas, before: z.record(z.string(), z.string()), after: z.null() };
type RevokeAssetsShapes = ShapesOf<typeof schemas>;

/**
 * M9 takes asset numbers from one member of staff. Numbers are given and taken by calls of their own: a taken one may
 * be what frees a given one.
 */
export const revokeAssets: Kind<RevokeAssetsShapes> = {
  ...configureAssets,
  schemas,
  stages: ["revokes"],
  takes: "seats",
  policy: "assignments.revoked",
  rests: ({ customer }) => [
    { row: "A33", isOnlyTold: true },
    { row: "A27", about: formatKey(customer) },
  ],
  undone: { how: "exact", by: "M9" },
  freed,
  takesAway: (operation) => operation.payload.deleteAssets.length,
  lookFor: lookForHolder("should have lost"),
};

function freed({ payload }: Meant<RevokeAssetsShapes>): string[] {
  return payload.deleteAssets.filter((number) => typeof number === "string");
}
