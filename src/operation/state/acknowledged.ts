import type { RecordKey } from "../../crm/model.ts";
import { oneByOne } from "./part.ts";
import { isSameKey } from "./same-key.ts";

export interface KnownAcknowledged {
  /** Commitments of the fields that the platform acknowledged last by E2 or E4. */
  acknowledged: { name: string; branchName: string; address: string | null } | undefined;
}

export type AcknowledgedFields = NonNullable<KnownAcknowledged["acknowledged"]>;

export interface AcknowledgedChange {
  type: "acknowledged";
  customer: RecordKey;
  fields: AcknowledgedFields;
}

const acknowledged = oneByOne<KnownAcknowledged, AcknowledgedChange>((known, change, { customer }) =>
  isSameKey(change.customer, customer) ? { ...known, acknowledged: change.fields } : known,
);

export const acknowledgedParts = { acknowledged };
