import type { Kind } from "./kind.ts";
import { switchLocks } from "./switch-locks.ts";
import type { LockShapes } from "./switch-locks.ts";

/** E6 disables physical locks that a person named. */
export const lockAssets: Kind<LockShapes> = {
  ...switchLocks("locked", ({ orderService }, ...locks) => orderService.lockAssets(...locks)),
  endpoint: "E6",
  undone: { how: "exact", by: "E7" },
};
