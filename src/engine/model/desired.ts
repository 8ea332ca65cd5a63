import type { Customer, InstanceWith, Order, RecordKey, Staff } from "../../crm/model.ts";
import { buildAssets } from "../../crm/tree.ts";
import type { Commitment, PrivateMarker } from "./references.ts";

/** A canonical record with markers instead of its private fields. */
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
/** An order as its kept form has it, which leads to no private value. */
export type KeptOrder = Omit<Order, "instances"> & { instances: InstanceWith<Commitment>[] };

export type DesiredStaff = Omit<Staff, "userName" | "name" | "remark" | "mobile" | "password"> & {
  userName: PrivateMarker;
  name: PrivateMarker;
  remark?: PrivateMarker;
  mobile?: PrivateMarker;
  password?: PrivateMarker;
};

export type RecordState = "current" | "quarantined" | "absent";

export interface Desired<Body> {
  key: RecordKey;
  version: number;
  /** When the CRM first had the record in this form. */
  since: string;
  bodyHash: string;
  state: RecordState;
  pending: boolean;
  /** The last full read does not have the record, which does not count as deleted yet. Nothing new is made for it. */
  missing?: true | undefined;
  /** How many times in a row the record returned to its form before the last one. */
  flips?: number | undefined;
  body: Body;
}

/** An order of the CRM with the tree of its instances, which is built once, at load. */
export interface OrderWithTree extends Desired<DesiredOrder> {
  tree: ReturnType<typeof buildAssets<PrivateMarker>>;
}

export function withTree(order: Desired<DesiredOrder>): OrderWithTree {
  return { ...order, tree: buildAssets(order.body.instances) };
}
