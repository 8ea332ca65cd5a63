import type { RecordKey, Stream } from "../../crm/model.ts";
import { notOfCustomers } from "./part.ts";

/**
 * A person did on the platform what the CRM says of a record, and it was read back; `unseen` names what of it could not
 * be, and counts by that person's word alone.
 */
export interface DoneByHand {
  type: "done-by-hand";
  stream: Stream;
  key: RecordKey;
  /** Of the form that the person did: a note says nothing of a later one. */
  bodyHash: string;
  by: string;
  reason: string;
  unseen: readonly string[];
}

export const byHandParts = { "done-by-hand": notOfCustomers };
