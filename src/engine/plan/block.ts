import { formatKey } from "../../crm/keys.ts";
import { counted } from "../../report/text.ts";
import type { CustomerInput } from "./input.ts";

/** Why nothing of a customer may be removed while records that could want it kept are in quarantine. */
export function quarantineBlock({
  customer,
  quarantinedInScope: own,
  sourceWithStrayRecord: stray,
}: Pick<CustomerInput, "customer" | "quarantinedInScope" | "sourceWithStrayRecord">): Block | undefined {
  if (own > 0) {
    return {
      code: "revokes.blocked",
      reason:
        `${counted(own, "record")} of this customer ${own === 1 ? "waits" : "wait"} in quarantine, so nothing is ` +
        `removed: \`crm-sync explain customer ${formatKey(customer)}\` lists them`,
      again: true,
    };
  }
  if (stray === undefined) return undefined;
  return {
    code: "revokes.blocked",
    reason:
      `a person of the source ${stray.source} waits in quarantine, and the customer of that person is not known. So ` +
      `nothing is removed from people of ${stray.source}: \`crm-sync quarantine show ${stray.row}\` shows the person`,
    again: true,
  };
}

/**
 * A reason for which something is not done, with a dotted code; `again` says whether it is looked at in each run or
 * only when the record changes.
 */
export interface Block {
  code: string;
  reason: string;
  again: boolean;
  /** A service refused it: the record is rejected, not deferred. */
  rejected?: true;
}

/** A record by its formatted key, and why something of it is not done. */
export type BlockedRecord = readonly [key: string, block: Block];

/** The first block of each record, but never one that is not looked at again in place of one that is. */
export function firstBlocks(blocked: Iterable<BlockedRecord>): Map<string, Block> {
  const blocks = new Map<string, Block>();
  for (const [key, block] of blocked) {
    const earlier = blocks.get(key);
    if (earlier === undefined || (block.again && !earlier.again)) blocks.set(key, block);
  }
  return blocks;
}

/** Why nothing new is made for a record that the last full read lacks. */
export const missingRecord: Block = {
  code: "record.missing",
  reason:
    "the last full read does not contain the record, so crm-sync buys and creates nothing for it before a read " +
    "contains it again",
  again: true,
};
