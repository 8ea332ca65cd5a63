import { z } from "zod";
import { assetSchemas, configureAssets, lookForHolder } from "./configure-assets.ts";
import type { Kind } from "./kind.ts";
import type { ShapesOf } from "./shape.ts";

const schemas = { ...assetSchemas, before: z.null(), after: z.array(z.string()) };

/** M9 gives asset numbers to one member of staff. */
export const grantAssets: Kind<ShapesOf<typeof schemas>> = {
  ...configureAssets,
  schemas,
  stages: ["grants"],
  rests: ({ payload }) => [
    { row: "A33", isOnlyTold: true },
    ...payload.addAssets.flatMap((number) =>
      typeof number === "string" ? [{ row: "A35" as const, about: number }] : [],
    ),
  ],
  undone: { how: "exact", by: "M9" },
  granted: ({ after }) => after,
  lookFor: lookForHolder("should have got"),
};
