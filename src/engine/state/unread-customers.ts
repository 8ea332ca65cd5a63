import type { RecordKey } from "../../crm/model.ts";
import { notOfCustomers } from "./part.ts";

/**
 * What could not be looked at when a ledger was new to the platform, so that an order may stand there that belongs to
 * somebody else in the CRM by now: a customer, or (under a key without a namespace) what no customer is known of.
 */
export interface CustomerUnread {
  type: "customer-unread";
  customer: RecordKey;
  why: string;
  /** It counts for every order, and not only for those that the ledger knew by then. */
  ofAllOrders: boolean;
}

/** What a customer has is known now. */
export interface CustomerRead {
  type: "customer-read";
  customer: RecordKey;
}

export type UnreadCustomerChange = CustomerUnread | CustomerRead;

export const unreadCustomersParts = { "customer-unread": notOfCustomers, "customer-read": notOfCustomers };
