import type { ObservedAsset } from "../../platform/snapshot.ts";
import type { Block } from "./block.ts";

/** Holders by asset number from M6, `null` for nobody; undefined if M6 was not read. */
export type Holders = ReadonlyMap<string, string | null> | undefined;

export function holdersOf(assets: readonly ObservedAsset[] | undefined): Holders {
  return assets === undefined ? undefined : new Map(assets.map((asset) => [asset.assetNum, asset.holder]));
}

export const holdersNotRead: Block = {
  code: "staff.not-read",
  reason: "crm-sync did not read who holds which asset of this customer, so it assigns and revokes nothing here",
  again: true,
};

/** Whether a lock is lent. E8's flag only says that it may be lent. */
export function saysLent({ from }: ObservedAsset): boolean {
  return from === "M6";
}
