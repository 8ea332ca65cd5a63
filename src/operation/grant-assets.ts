import { configureAssets, lookForHolder } from "./configure-assets.ts";
import type { Kind } from "./kind.ts";

/** M9 gives asset numbers to one member of staff. */
export const grantAssets: Kind = {
  ...configureAssets,
  stage: "grants",
  granted: ({ after }) => (Array.isArray(after) ? after.filter((item) => typeof item === "string") : []),
  lookFor: lookForHolder("should have got"),
};
