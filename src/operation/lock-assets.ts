import type { Kind } from "./kind.ts";
import { switchLocks } from "./switch-locks.ts";
import type { LockShapes } from "./switch-locks.ts";

/** E6 disables physical locks that a person named, or the CRM. */
export const lockAssets: Kind<LockShapes> = {
  ...switchLocks("locked", ({ orderService }, ...locks) => orderService.lockAssets(...locks)),
  endpoint: "E6",
  takes: "locks",
  // A person who asks takes nothing away unseen.
  takesAway: ({ policy, payload }) => (policy === undefined ? 0 : payload.assetNums.length),
  undone: { how: "exact", by: "E7" },
};
