import { configureAssets, lookForHolder } from "./configure-assets.ts";
import { plainKind } from "./kind.ts";
import type { Kind } from "./kind.ts";

/**
 * M9 takes asset numbers from one member of staff. Numbers are given and taken by calls of their own: a taken one may
 * be what frees a given one.
 */
export const revokeAssets: Kind = {
  ...configureAssets,
  stage: "revokes",
  granted: plainKind.granted,
  lookFor: lookForHolder("should have lost"),
};
