import { z } from "zod";
import { assetSchemas, configureAssets, lookForHolder } from "./configure-assets.ts";
import type { Kind } from "./kind.ts";
import { fieldLines } from "./plan-lines.ts";
import { isAssetUnit } from "./references.ts";
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
  planLines: ({ payload: { addAssets, ...payload }, after }) =>
    fieldLines({ ...payload, addAssets: addAssets.map((asset, index) => knownNumber(after[index]) ?? asset) }),
  lookFor: lookForHolder("should have got"),
};

/** What somebody is to get, where it is a number: else it is a unit, whose number a later call brings. */
function knownNumber(granted: string | undefined): string | undefined {
  return granted === undefined || isAssetUnit(granted) ? undefined : granted;
}
