import type { Kind } from "./kind.ts";
import { switchLocks } from "./switch-locks.ts";
import type { LockShapes } from "./switch-locks.ts";

/** E7 enables physical locks that a person named, or the CRM. */
export const unlockAssets: Kind<LockShapes> = {
  ...switchLocks("unlocked", ({ orderService }, ...locks) => orderService.unlockAssets(...locks)),
  endpoint: "E7",
  undone: { how: "exact", by: "E6" },
};
