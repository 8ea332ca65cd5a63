import type { RecordKey } from "../crm/model.ts";
import type { Desired, DesiredCustomer, DesiredStaff, OrderWithTree } from "../operation/desired.ts";
import type { OperationKind } from "../operation/registry.ts";
import type { RecordReference } from "../operation/shape.ts";
import type { Known } from "../operation/state.ts";
import type { ObservedAsset, ObservedMember, ShownEnterprise } from "../platform/snapshot.ts";

/** What the platform showed just now; `undefined` where it was not read. A read that failed is never an empty list. */
export interface Observed {
  /** E3: enterprises under the customer's channel numbers. */
  enterprises: ShownEnterprise[] | undefined;
  /** Why E3's answer says neither that there is an enterprise nor that there is none. */
  ambiguous?: string | undefined;
  members: ObservedMember[] | undefined;
  assets: ObservedAsset[] | undefined;
  /** Orders that may be on the platform already, whole or in part, and why they wait; by order. */
  unclearOrders?: ReadonlyMap<string, { code: string; reason: string; again: boolean }> | undefined;
}

/** Something that a service refused for a record, as the ledger keeps it while the record has not changed since. */
export interface Rejection {
  record: RecordReference;
  kind: OperationKind;
  /** Of what was refused: the operation, or one person's part of M1. */
  hash: string;
  /** Fingerprint of the settings that it was made with. */
  settings: string;
  operationId: string;
  code: string;
  reason: string;
  /** Refused together with others, so that it is not known whose fault it was. */
  shared: boolean;
}

/** Everything one customer is planned from. */
export interface CustomerInput {
  customer: RecordKey;
  desiredCustomer: Desired<DesiredCustomer> | undefined;
  orders: OrderWithTree[];
  staff: Desired<DesiredStaff>[];
  known: Known;
  observed: Observed;
  /** Clear private values of customer and staff, by marker key, where there is any staff; in memory only. */
  privateValues: ReadonlyMap<string, string>;
  /** The customer's own record was read, and could not be used yet. */
  customerInQuarantine?: boolean | undefined;
  /** Quarantined records that belong to this customer and block deletes in its scope. */
  quarantinedInScope: number;
  /**
   * A source of this customer's people that gave a row of which nobody can tell whose it is: it blocks deletes wherever
   * the source's people are.
   */
  sourceWithStrayRecord: { source: string; row: string } | undefined;
  /** What was refused for this customer and its records, and stands while nothing has changed. */
  rejections: readonly Rejection[];
}

/** The same as the ledger gives it, before the platform was read. */
export type LoadedCustomer = Omit<CustomerInput, "observed">;
