import type { Money } from "../../crm/model.ts";
import type { Comparison } from "../reconciliation/case.ts";
import type { OrderForm } from "./order-form.ts";

/** What one side says of one thing; null where it says nothing, or there is nothing of the kind. */
export interface Figures {
  units: number | null;
  nodes: number | null;
  seats: number | null;
  amount: Money | undefined;
  term: string | null;
  termEnd: string | null;
}

/** One comparison with what each of its three sides comes to. */
export interface ReconciledItem {
  comparison: Comparison;
  source: string | null;
  productName: string | null;
  productNumber: string | null;
  crm: Figures;
  sent: Figures;
  /** The platform shows no money: that of what is observed is that of what was sent. */
  observed: Figures;
  /** The amounts of the whole line, or of the order, differ by no more than the tolerance; null without amounts. */
  isWithin: boolean | null;
  /** The amounts of the whole line, or of the order, differ by more than that: for that it is `different`. */
  isOtherMoney: boolean;
  /** Since when it is not as meant; null of what is. */
  openSince: string | null;
}

/** A record of a customer: the source that gives it, since when the customer wants it, and since when as it is now. */
export interface RecordFacts {
  source: string;
  wantedSince: string;
  changedAt: string;
}

/** The forms of one order. */
export interface OrderForms {
  /** As the CRM has it now. */
  now: OrderForm | undefined;
  /** Those that something was bought from for this customer, by the channel order number of the purchase. */
  sent: ReadonlyMap<string, OrderForm>;
  /** The one that something was bought from or taken away by last. */
  lastSent: OrderForm | undefined;
}

/** What a statement knows of a customer beside what is compared. */
export interface CustomerFacts {
  branch: string | null;
  /** By stream and key, such as `orders crm/10248`. */
  records: ReadonlyMap<string, RecordFacts>;
  orders: ReadonlyMap<string, OrderForms>;
  /** Since when `verify` has each difference, by `differenceKey`. */
  differences: ReadonlyMap<string, string>;
}
