import { deletion } from "./deletion.ts";
import type { DeletionShapes } from "./deletion.ts";
import type { Kind } from "../../engine/kind.ts";

/** E5 takes whole assets away, in which M7 shows nothing but what is to go. Who holds one loses it with it. */
export const deleteAssets: Kind<DeletionShapes> = { ...deletion };
