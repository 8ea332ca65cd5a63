import type { Money, RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { bothDates, crmDay, type CrmDate } from "../crm-date.ts";
import { minus, type Exact } from "./cells.ts";
import { changedFields, type OrderChange } from "./order-form.ts";
import { amountColumns, column, type Column, type Part, type PartRow, type Row } from "./shape.ts";

export interface ChangedOrder {
  order: RecordKey;
  customer: RecordKey;
  branch: string | null;
  crmDate: CrmDate | null;
  channelOrderId: string;
  placedAt: string;
}

const changedOrderColumns: readonly Column[] = [
  column("text", "customer", "Customer", "Key of the customer that the order belongs to."),
  column("text", "branch", "Branch", "Code of the branch that looks after the customer."),
  column("text", "crm_order", "CRM order", "Key of the order in the CRM."),
  column("date", "crm_date", "CRM date", "Date that the CRM gives the order."),
  column("text", "channel_order_id", "Channel order", "Number under which it was placed."),
  column("instant", "placed_at", "Placed", "When it was placed or taken over."),
];

const datesOf = "A date is as the CRM gave it, with the time where only that changed.";

const changeColumns: readonly Column[] = [
  column("text", "level", "Level", "What changed: `order`, `asset`, `package` or `product`."),
  column("text", "item", "Item", "Id of the asset, package or product in the CRM; empty for the order itself."),
  column("text", "product", "Product", "Name of the product or package."),
  column("text", "product_number", "Product number", "Number of the product or package, else its application key."),
  column("text", "license_type", "Licence type", "Licence type of the asset that it belongs to."),
  column("text", "field", "Field", `What of it changed: ${changedFields.map((field) => `\`${field}\``).join(", ")}.`),
  column("text", "before", "Before", `The old value; empty if there was none, and for amounts. ${datesOf}`),
  column("text", "after", "After", `The new value; empty if there is none, and for amounts. ${datesOf}`),
  ...amountColumns("before_amount", "Amount before", "The amount before; of a product that is gone, its own."),
  ...amountColumns("after_amount", "Amount after", "The amount after; of a product that came, its own."),
  ...amountColumns(
    "amount_change",
    "Change of amount",
    "Amount after less amount before, where the currency stayed the same; a side without an amount counts as none.",
  ),
  column("integer", "before_count", "Count before", "Nodes or quantity before, as a number."),
  column("integer", "after_count", "Count after", "Nodes or quantity after, as a number."),
  column("integer", "count_change", "Change of count", "Count after less count before."),
];

/** Differences between the orders in the CRM and the orders as sent. */
export const corrected: Part = {
  name: "corrected",
  title: "Corrected in the CRM",
  about:
    "One row for each amount, quantity, term, number of nodes and product that the CRM has otherwise now than in " +
    "the form that the order was placed from.",
  groupBy: "field",
  columns: [
    ...changedOrderColumns,
    ...changeColumns,
    column("instant", "changed_at", "Changed", "When the ledger read the form that the CRM has now."),
    column("text", "source", "Source", "The source that gave that form."),
    column("text", "place", "Place", "Where in the source it stands, such as a file and its line."),
  ],
};

export function correctedRow(
  order: ChangedOrder & { changedAt: string; source: string; place: string },
  change: OrderChange,
  zone: string,
): PartRow {
  const { changedAt, source, place } = order;
  const row = { ...changedOrderCells(order, zone), ...changeCells(change, zone), changed_at: changedAt, source, place };
  return { part: "corrected", row };
}

function changedOrderCells(order: ChangedOrder, zone: string): Row {
  return {
    customer: formatKey(order.customer),
    branch: order.branch,
    crm_order: formatKey(order.order),
    crm_date: crmDay(order.crmDate, zone),
    channel_order_id: order.channelOrderId,
    placed_at: order.placedAt,
  };
}

function changeCells(change: OrderChange, zone: string): Row {
  const { level, item, name, number, licenseType, field, before, after } = change;
  const changed = amountDifference(before.amount, after.amount);
  return {
    level,
    item,
    product: name,
    product_number: number,
    license_type: licenseType,
    field,
    ...textsOf(change, zone),
    before_amount: before.amount?.minor ?? null,
    before_amount_currency: before.amount?.currency ?? null,
    after_amount: after.amount?.minor ?? null,
    after_amount_currency: after.amount?.currency ?? null,
    amount_change: changed?.minor ?? null,
    amount_change_currency: changed?.currency ?? null,
    before_count: before.count ?? null,
    after_count: after.count ?? null,
    count_change:
      before.count === undefined && after.count === undefined ? null : (after.count ?? 0) - (before.count ?? 0),
  };
}

function textsOf({ before, after }: OrderChange, zone: string): Record<"before" | "after", string | null> {
  if (before.date === undefined || after.date === undefined) return { before: before.text, after: after.text };
  return bothDates(before.date, after.date, zone);
}

/** The amount after minus the amount before, in one currency. A missing amount counts as 0. */
export function amountDifference(
  before: Money | undefined,
  after: Money | undefined,
): { currency: string; minor: Exact } | undefined {
  const currency = after?.currency ?? before?.currency;
  if (currency === undefined || (before?.currency ?? currency) !== currency) return undefined;
  return { currency, minor: minus(after?.minor ?? 0, before?.minor ?? 0) };
}
