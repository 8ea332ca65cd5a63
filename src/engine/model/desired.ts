import type { Customer, InstanceWith, Order, RecordKey, Staff } from "../../crm/model.ts";
import { buildAssets } from "../../crm/tree.ts";
import type { Commitment, PrivateMarker } from "./references.ts";

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
  since: string;
  bodyHash: string;
  state: RecordState;
  pending: boolean;
  /** The last full read did not show the record, but the absence is not believed yet. Nothing new is made for it. */
  missing?: true | undefined;
  flips?: number | undefined;
  body: Body;
}

export interface OrderWithTree extends Desired<DesiredOrder> {
  tree: ReturnType<typeof buildAssets<PrivateMarker>>;
}

export function withTree(order: Desired<DesiredOrder>): OrderWithTree {
  return { ...order, tree: buildAssets(order.body.instances) };
}
