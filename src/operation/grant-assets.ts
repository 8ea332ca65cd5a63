import { z } from "zod";
import { assetSchemas, configureAssets, lookForHolder } from "./configure-assets.ts";
import type { Kind } from "./kind.ts";
import type { ShapesOf } from "./shape.ts";

const schemas = { ...assetSchemas, before: z.null(), after: z.array(z.string()) };

/** M9 gives asset numbers to one member of staff. */
export const grantAssets: Kind<ShapesOf<typeof schemas>> = {
  ...configureAssets,
  schemas,
  stage: "grants",
  undone: { how: "exact", by: "M9" },
  granted: ({ after }) => after,
  lookFor: lookForHolder("should have got"),
};
