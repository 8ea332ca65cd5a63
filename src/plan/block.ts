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
