import type { Customer, InstanceWith, Order, RecordKey, Staff } from "../../crm/model.ts";
import { buildAssets } from "../../crm/tree.ts";
import type { PrivateMarker } from "./references.ts";

/** A canonical record with markers in place of its private fields. */
export type DesiredCustomer = Omit<Customer, CustomerPrivate> & { name: PrivateMarker } & {
  [Field in Exclude<CustomerPrivate, "name">]?: PrivateMarker;
};
type CustomerPrivate =
  | "name"
  | "enterpriseName"
  | "address"
  | "adminName"
  | "adminAccount"
  | "adminEmail"
  | "adminMobile"
  | "purchaserMobile";

export type DesiredInstance = InstanceWith<PrivateMarker>;
export type DesiredOrder = Omit<Order, "instances"> & { instances: DesiredInstance[] };

export type DesiredStaff = Omit<Staff, "userName" | "name" | "remark" | "mobile" | "password"> & {
  userName: PrivateMarker;
  name: PrivateMarker;
  remark?: PrivateMarker;
  mobile?: PrivateMarker;
  password?: PrivateMarker;
};

export type RecordState = "current" | "quarantined" | "absent";

/** One record of the CRM as the ledger holds it now. */
export interface Desired<Body> {
  key: RecordKey;
  version: number;
  /** Since when the CRM has it in this form. */
  since: string;
  bodyHash: string;
  state: RecordState;
  /** Set while the record waits to be planned. */
  pending: boolean;
  /** The last full read lacks it, and it does not count as deleted yet: nothing new is made for it meanwhile. */
  missing?: true | undefined;
  /** How often in a row it came back to the form before its last one. */
  flips?: number | undefined;
  body: Body;
}

/** An order of the CRM with its instances as the tree that they make: built once, when it is loaded. */
export interface OrderWithTree extends Desired<DesiredOrder> {
  tree: ReturnType<typeof buildAssets<PrivateMarker>>;
}

export function withTree(order: Desired<DesiredOrder>): OrderWithTree {
  return { ...order, tree: buildAssets(order.body.instances) };
}
