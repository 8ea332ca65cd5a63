import type { Link, LockWish, PlacedOrder, StaffLink } from "../../operation/state.ts";

export interface LinkTable {
  namespace: string;
  customer_id: string;
  from_at: string;
  to_at: string | null;
  enterprise_global_id: string;
  channel_code: string;
  channel_customer_id: string;
  origin: Link["origin"];
  examined: number;
}

export interface PlatformCustomerTable {
  enterprise_global_id: string;
  customer_id: string;
  is_default: number;
  channel_code: string;
  channel_customer_id: string;
  seen_at: string;
}

export interface AcknowledgedTable {
  namespace: string;
  customer_id: string;
  from_at: string;
  to_at: string | null;
  fields: string;
}

export interface PlacedOrderTable {
  namespace: string;
  order_id: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  channel_order_id: string;
  body_hash: string;
  version: number;
  operation_id: string | null;
  origin: PlacedOrder["origin"];
}

export interface LicenceOrderTable {
  namespace: string;
  order_id: string;
  sequence: number;
  license_type: string;
  platform_customer_id: string;
  license_order_id: string;
  at: string;
}

export interface AssetNumberTable {
  number: string;
  origin: "pool" | "crm";
  operation_id: string | null;
  taken_at: string;
  fixed_at: string | null;
  wire_number: string | null;
  namespace: string | null;
  order_id: string | null;
  instance_id: string | null;
  unit: number | null;
}

export interface StaffLinkTable {
  namespace: string;
  staff_id: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  enterprise_global_id: string;
  member_global_id: string;
  origin: StaffLink["origin"];
  profile: string;
}

export interface AssignmentTable {
  asset_number: string;
  from_at: string;
  to_at: string | null;
  namespace: string;
  staff_id: string;
  customer_namespace: string;
  customer_id: string;
  member_global_id: string;
  origin: "granted" | "adopted";
  operation_id: string | null;
  ended_by: string | null;
}

/** What a person asked for of a lock, and what the service said last of it. */
export interface LockWishTable {
  asset_number: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  wanted: LockWish["wanted"];
  license_type: LockWish["licenseType"];
  large_customer: number;
  asked_by: string;
  reason: string;
  status: LockWish["status"];
  answered_at: string | null;
  operation_id: string | null;
  /** It is still to be sent. */
  due: number;
}

export interface ObservationTable {
  customer_namespace: string;
  customer_id: string;
  kind: string;
  subject: string;
  from_at: string;
  to_at: string | null;
  seen_at: string;
  body: string;
  body_hash: string;
}

export interface ObservationReadTable {
  customer_namespace: string;
  customer_id: string;
  seen_at: string;
  complete: number;
}

/** A licence type that the platform ever showed: by an asset (A43), or by a product of a thinned observation. */
export interface ShownLicenceTypeTable {
  license_type: string;
  shown_by: "asset" | "product";
  shown_at: string;
}

export interface ProtectedMemberTable {
  member_global_id: string;
  enterprise_global_id: string;
  reason: string;
  seen_at: string;
}

export interface EnterpriseCodeTable {
  enterprise_global_id: string;
  code: string;
  recorded_at: string;
}

export interface ConfirmedCorrelationTable {
  correlation: string;
  confirmed_at: string;
}
