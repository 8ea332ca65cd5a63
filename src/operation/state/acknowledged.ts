import type { RecordKey } from "../../crm/model.ts";
import type { DesiredCustomer } from "../desired.ts";
import { oneByOne } from "./part.ts";
import { isSameKey } from "./same-key.ts";

export interface KnownAcknowledged {
  /** Commitments of the fields that the platform acknowledged last by E2 or E4. */
  acknowledged: { name: string; branchName: string; address: string | null } | undefined;
}

export type AcknowledgedFields = NonNullable<KnownAcknowledged["acknowledged"]>;

/** The fields that E2 and E4 carry, as commitments: what is compared with what the platform acknowledged last. */
export function acknowledgedFields({ name, branchName, address }: DesiredCustomer): AcknowledgedFields {
  return { name: name.commitment, branchName, address: address?.commitment ?? null };
}

/** `acknowledged-ended`: it was of another enterprise than the one that is linked now. */
export type AcknowledgedChange =
  | { type: "acknowledged"; customer: RecordKey; fields: AcknowledgedFields }
  | { type: "acknowledged-ended"; customer: RecordKey };

const acknowledged = oneByOne<KnownAcknowledged, AcknowledgedChange>((known, change, { customer }) => {
  if (!isSameKey(change.customer, customer)) return known;
  return { ...known, acknowledged: change.type === "acknowledged" ? change.fields : undefined };
});

export const acknowledgedParts = { acknowledged, "acknowledged-ended": acknowledged };
