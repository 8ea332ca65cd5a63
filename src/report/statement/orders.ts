import type { Money } from "../../crm/model.ts";
import { plus } from "./cells.ts";
import type { Exact } from "./cells.ts";
import type { Column, Part, Row, StatementShape } from "./shape.ts";

/** Names what was asked of whom, and proves it. */
const happened: readonly Column[] = [
  { name: "date", type: "date", title: "Date", about: "The local date on which it happened, in the statement's zone." },
  { name: "at", type: "instant", title: "Time", about: "When it happened." },
];

const customerColumns: readonly Column[] = [
  { name: "customer", type: "text", title: "Customer", about: "The CRM customer, as `namespace/id`." },
  {
    name: "branch",
    type: "text",
    title: "Branch",
    about: "Code of the branch that looked after the customer at that time.",
  },
  { name: "source", type: "text", title: "Source", about: "The source that gives the record." },
];

const proofColumns: readonly Column[] = [
  {
    name: "operation",
    type: "text",
    title: "Operation",
    about: "The operation that did it; empty where none did.",
  },
  { name: "run", type: "text", title: "Run", about: "The run that carried the operation out." },
  {
    name: "audit_sequence",
    type: "integer",
    title: "Audit entry",
    about: "The entry of the audit log that proves it: of the operation, or of the reading that found it.",
  },
];

const lines: Part = {
  name: "lines",
  title: "Lines",
  about:
    "One row for each product line that an event of an order brought, took away or gave another price: by product " +
    "instance, and by the channel order and the licence order under which it stands.",
  groupBy: "event",
  columns: [
    {
      name: "event",
      type: "text",
      title: "Event",
      about:
        "`placed`, `adopted` (found on the platform), `amended` (bought later), `ended`, `repriced`, `found-gone` or " +
        "`found-again`.",
    },
    ...happened,
    {
      name: "origin",
      type: "text",
      title: "By",
      about:
        "`sent`: by a call of ours; `by-hand`: a person said so; `found`: read from the platform; `rebuilt`: when " +
        "the ledger was built anew; empty where only amounts changed in the CRM.",
    },
    { name: "crm_order", type: "text", title: "CRM order", about: "The CRM order, as `namespace/id`." },
    { name: "crm_date", type: "date", title: "CRM date", about: "The local date that the CRM gives the order." },
    ...customerColumns,
    {
      name: "channel_order_id",
      type: "text",
      title: "Channel order",
      about: "The channel order number of the purchase.",
    },
    { name: "enterprise_global_id", type: "text", title: "Enterprise", about: "The enterprise on the platform." },
    {
      name: "license_order_id",
      type: "text",
      title: "Licence order",
      about: "The licence order that brought the line; empty where more than one could be meant.",
    },
    { name: "license_type", type: "text", title: "Licence type", about: "The licence type of its asset." },
    {
      name: "asset_numbers",
      type: "list",
      title: "Asset numbers",
      about: "Numbers of the units that came or went, or else cost something else, where they are known.",
    },
    {
      name: "package_numbers",
      type: "list",
      title: "Package numbers",
      about: "Numbers of the packages that hold the product, the outermost first.",
    },
    { name: "package_names", type: "list", title: "Packages", about: "Names of those packages, the outermost first." },
    { name: "product_id", type: "text", title: "Product instance", about: "The CRM's id of the product instance." },
    { name: "product", type: "text", title: "Product", about: "Name of the product." },
    { name: "gms_pid", type: "text", title: "Product number", about: "The product number (gmsPid)." },
    {
      name: "app_key",
      type: "text",
      title: "Application key",
      about: "The application key, where it has one.",
    },
    { name: "product_type", type: "text", title: "Product type", about: "Type of the product." },
    {
      name: "units",
      type: "integer",
      title: "Units",
      about: "How many asset numbers came (above 0) or went (below 0); 0 where only the price changed.",
      total: true,
    },
    { name: "nodes_per_unit", type: "integer", title: "Nodes per unit", about: "Nodes of the product in one unit." },
    { name: "nodes", type: "integer", title: "Nodes", about: "Units times nodes per unit.", total: true },
    {
      name: "seats",
      type: "integer",
      title: "Seats",
      about:
        "Seats at the end of the period (assignments of these numbers to members of staff, as the entitlements count " +
        "them), in the row of the event that brought the units; 0 where units went or only the price changed.",
      total: true,
    },
    { name: "term_from", type: "date", title: "From", about: "The local date from which it may be used." },
    { name: "term_to", type: "date", title: "To", about: "The local date until which it may be used." },
    { name: "term", type: "text", title: "Term", about: "The term as years-months-days: `1-0-0` for one year." },
    { name: "trial", type: "boolean", title: "Trial", about: "Whether it is a trial." },
    {
      name: "amount",
      type: "money",
      title: "Amount",
      about:
        "The change of the order's price, if the CRM gives an amount: above 0 it costs more, below 0 less. " +
        "Each of several units has its share of the line's amount.",
      currencyIn: "currency",
      total: true,
    },
    { name: "currency", type: "text", title: "Currency", about: "Currency of the amount (ISO 4217)." },
    {
      name: "adjusts",
      type: "text",
      title: "Adjusts",
      about:
        "The closed period that it adjusts: the order was placed in it, or is dated in it by the CRM; empty where " +
        "none is closed that it could belong to.",
    },
    {
      name: "adjusts_audit_sequence",
      type: "integer",
      title: "Adjusts entry",
      about: "The audit entry of the placing that it adjusts; empty where the order itself came late.",
    },
    ...proofColumns,
  ],
};

const orders: Part = {
  name: "orders",
  title: "Orders",
  about:
    "One row for each order and customer with an event in the period: its price before its first event of " +
    "the period and after the last one, and the price of its present lines. With a filter by product those " +
    "that have a line of it, with all their lines.",
  groupBy: "verdict",
  columns: [
    { name: "crm_order", type: "text", title: "CRM order", about: "The CRM order, as `namespace/id`." },
    { name: "crm_date", type: "date", title: "CRM date", about: "The local date that the CRM gives the order." },
    ...customerColumns,
    { name: "channel_order_id", type: "text", title: "Channel order", about: "The number that it was placed under." },
    {
      name: "events",
      type: "integer",
      title: "Events",
      about: "Its events in `lines`; 0 where only the whole order's amount changed.",
      total: true,
    },
    {
      name: "amount_before",
      type: "money",
      title: "Amount before",
      about: "Price of the whole order before the first event of the period; empty if it was not placed then.",
      currencyIn: "currency_before",
      total: true,
    },
    { name: "currency_before", type: "text", title: "Currency before", about: "Currency of that amount (ISO 4217)." },
    {
      name: "amount_after",
      type: "money",
      title: "Amount after",
      about: "Price of the whole order in the CRM after the last event of the period; empty if it is fully removed.",
      currencyIn: "currency",
      total: true,
    },
    { name: "currency", type: "text", title: "Currency", about: "Currency of the amount after (ISO 4217)." },
    {
      name: "lines",
      type: "integer",
      title: "Lines",
      about: "Product lines of the order after the last event of the period, each once, however often more was bought.",
      total: true,
    },
    {
      name: "lines_amount",
      type: "money",
      title: "Sum of lines",
      about: "What those lines cost together, where each has an amount and all are in one currency.",
      currencyIn: "lines_currency",
      total: true,
    },
    { name: "lines_currency", type: "text", title: "Currency of lines", about: "Currency of that sum (ISO 4217)." },
    {
      name: "verdict",
      type: "text",
      title: "Verdict",
      about:
        "`agrees`: the lines cost what the order costs; `differs`: they do not; `not given`: the CRM does not give " +
        "the amount of the order or of every line; `ended`: it is fully removed; `not known`: the ledger no " +
        "longer has a form that part of it was bought from.",
    },
  ],
};

const licences: Part = {
  name: "licences",
  title: "Licences",
  about: "One row for each beginning and each end of an assignment: who was granted an asset number, or lost it.",
  groupBy: "event",
  columns: [
    {
      name: "event",
      type: "text",
      title: "Event",
      about: "`granted`, `grant-adopted` (found on the platform), `revoked` or `found-gone`.",
    },
    ...happened,
    ...customerColumns,
    { name: "staff", type: "text", title: "Staff", about: "The CRM's staff record, as `namespace/id`." },
    { name: "member_global_id", type: "text", title: "Member", about: "The member on the platform." },
    { name: "asset_number", type: "text", title: "Asset number", about: "The asset number that was held." },
    { name: "enterprise_global_id", type: "text", title: "Enterprise", about: "The enterprise on the platform." },
    {
      name: "crm_order",
      type: "text",
      title: "CRM order",
      about: "The order that brought the asset number, as `namespace/id`; empty where none of ours did.",
    },
    {
      name: "channel_order_id",
      type: "text",
      title: "Channel order",
      about: "The number that it was placed under.",
    },
    ...proofColumns,
  ],
};

/** What finance reads of a month: what was given and taken away, line by line, order by order, seat by seat. */
export const ordersStatement: StatementShape = {
  kind: "orders",
  version: 2,
  title: "Orders",
  about: "Orders that were placed, amended, ended or found, and licences that were granted or revoked.",
  parts: [lines, orders, licences],
};

/** What stands of an order, and what it costs: what the sum of its lines is compared with. */
interface OrderSums {
  /** What the whole order costs. */
  order: Money | undefined;
  /** What each product that stands costs, each once for every unit. */
  products: readonly (Money | undefined)[];
  /** Every form that something of it was bought from is kept. */
  isKnown: boolean;
}

/** The sum of what stands of an order, and whether it agrees with the amount of the order. */
export function sumCells({ order, products, isKnown }: OrderSums): Row {
  const sum = isKnown ? sumOfLines(products) : undefined;
  return {
    lines_amount: sum?.minor ?? null,
    lines_currency: sum?.currency ?? null,
    verdict: isKnown ? verdict(order, products, sum) : "not known",
  };
}

interface Sum {
  currency: string;
  minor: Exact;
}

function verdict(
  order: Money | undefined,
  products: OrderSums["products"],
  sum: Sum | undefined,
): "agrees" | "differs" | "not given" | "ended" {
  if (products.length === 0) return "ended";
  if (order === undefined || products.includes(undefined)) return "not given";
  // Lines in several currencies are never added up, and cannot agree with one amount.
  return sum !== undefined && sum.currency === order.currency && sum.minor === order.minor ? "agrees" : "differs";
}

function sumOfLines(products: OrderSums["products"]): Sum | undefined {
  const [first] = products;
  if (first === undefined) return undefined;
  let minor: Exact = 0;
  for (const amount of products) {
    if (amount === undefined || amount.currency !== first.currency) return undefined;
    minor = plus(minor, amount.minor);
  }
  return { currency: first.currency, minor };
}
