import { formatKey } from "../../crm/keys.ts";
import { counted } from "../../report/text.ts";
import type { CustomerInput } from "./input.ts";

/** Nothing of a customer may be removed while quarantined records could still need it. */
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
 * Why something is not done, with a dotted code. `again`: each run tries again; else only a change of the record does.
 */
export interface Block {
  code: string;
  reason: string;
  again: boolean;
  /** A service rejected it: the record is rejected, not waiting. */
  rejected?: true;
}

/** The formatted key of a record, and a reason why the record is not done. */
export type BlockedRecord = readonly [key: string, block: Block];

/** The first block of each record; a block with `again` takes precedence over one without. */
export function firstBlocks(blocked: Iterable<BlockedRecord>): Map<string, Block> {
  const blocks = new Map<string, Block>();
  for (const [key, block] of blocked) {
    const earlier = blocks.get(key);
    if (earlier === undefined || (block.again && !earlier.again)) blocks.set(key, block);
  }
  return blocks;
}

/** Nothing new is made for a record that is missing from the last full read. */
export const missingRecord: Block = {
  code: "record.missing",
  reason:
    "the last full read does not contain the record, so crm-sync buys and creates nothing for it before a read " +
    "contains it again",
  again: true,
};
