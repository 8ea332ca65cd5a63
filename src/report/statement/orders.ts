import type { Money } from "../../crm/model.ts";
import { plus, type Exact } from "./cells.ts";
import { column, type Column, type Part, type Row, type StatementShape } from "./shape.ts";

const customerColumns: readonly Column[] = [
  column("text", "customer", "Customer", "The CRM customer, as `namespace/id`."),
  column("text", "branch", "Branch", "Code of the branch that looked after the customer at that time."),
  column("text", "source", "Source", "The source that gives the record."),
];

const proofColumns: readonly Column[] = [
  column("text", "operation", "Operation", "The operation that did it; empty where none did."),
  column("text", "run", "Run", "The run that carried the operation out."),
  column(
    "integer",
    "audit_sequence",
    "Audit entry",
    "The entry of the audit log that proves it: of the operation, or of the reading that found it.",
  ),
];

const lines: Part = {
  name: "lines",
  title: "Lines",
  about:
    "One row for each product line that an event of an order brought, took away or gave another price: by product " +
    "instance, and by the channel order and the licence order under which it stands.",
  groupBy: "event",
  columns: [
    column(
      "text",
      "event",
      "Event",
      "`placed`, `adopted` (found on the platform), `amended` (bought later), `ended`, `repriced` or `found-gone`.",
    ),
    column("date", "date", "Date", "The local date on which it happened, in the statement's zone."),
    column("instant", "at", "Time", "When it happened."),
    column(
      "text",
      "origin",
      "By",
      "`sent`: by a call of ours; `by-hand`: a person said so; `found`: read from the platform; `rebuilt`: when " +
        "the ledger was built anew; empty where only amounts changed in the CRM.",
    ),
    column("text", "crm_order", "CRM order", "The CRM order, as `namespace/id`."),
    column("date", "crm_date", "CRM date", "The local date that the CRM gives the order."),
    ...customerColumns,
    column("text", "channel_order_id", "Channel order", "The channel order number of the purchase."),
    column("text", "enterprise_global_id", "Enterprise", "The enterprise on the platform."),
    column(
      "text",
      "license_order_id",
      "Licence order",
      "The licence order that brought the line; empty where more than one could be meant.",
    ),
    column("text", "license_type", "Licence type", "The licence type of its asset."),
    column(
      "list",
      "asset_numbers",
      "Asset numbers",
      "Numbers of the units that came or went, or else cost something else, where they are known.",
    ),
    column(
      "list",
      "package_numbers",
      "Package numbers",
      "Numbers of the packages that hold the product, the outermost first.",
    ),
    column("list", "package_names", "Packages", "Names of those packages, the outermost first."),
    column("text", "product_id", "Product instance", "The CRM's id of the product instance."),
    column("text", "product", "Product", "Name of the product."),
    column("text", "gms_pid", "Product number", "The product number (gmsPid)."),
    column("text", "app_key", "Application key", "The application key, where it has one."),
    column("text", "product_type", "Product type", "Type of the product."),
    column(
      "integer",
      "units",
      "Units",
      "How many asset numbers came (above 0) or went (below 0); 0 where only the price changed.",
      { total: true },
    ),
    column("integer", "nodes_per_unit", "Nodes per unit", "Nodes of the product in one unit."),
    column("integer", "nodes", "Nodes", "Units times nodes per unit.", { total: true }),
    column(
      "integer",
      "seats",
      "Seats",
      "Seats at the end of the period (assignments of these numbers to members of staff, as the entitlements count " +
        "them), in the row of the event that brought the units; 0 where units went or only the price changed.",
      { total: true },
    ),
    column("date", "term_from", "From", "The local date from which it may be used."),
    column("date", "term_to", "To", "The local date until which it may be used."),
    column("text", "term", "Term", "The term as years-months-days: `1-0-0` for one year."),
    column("boolean", "trial", "Trial", "Whether it is a trial."),
    column(
      "money",
      "amount",
      "Amount",
      "The change of the order's price, if the CRM gives an amount: above 0 it costs more, below 0 less. " +
        "Each of several units has its share of the line's amount.",
      { currencyIn: "currency", total: true },
    ),
    column("text", "currency", "Currency", "Currency of the amount (ISO 4217)."),
    column(
      "text",
      "adjusts",
      "Adjusts",
      "The closed period that it adjusts: the order was placed in it, or is dated in it by the CRM; empty where " +
        "none is closed that it could belong to.",
    ),
    column(
      "integer",
      "adjusts_audit_sequence",
      "Adjusts entry",
      "The audit entry of the placing that it adjusts; empty where the order itself came late.",
    ),
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
    column("text", "crm_order", "CRM order", "The CRM order, as `namespace/id`."),
    column("date", "crm_date", "CRM date", "The local date that the CRM gives the order."),
    ...customerColumns,
    column("text", "channel_order_id", "Channel order", "The number that it was placed under."),
    column("integer", "events", "Events", "Its events in `lines`; 0 where only the whole order's amount changed.", {
      total: true,
    }),
    column(
      "money",
      "amount_before",
      "Amount before",
      "Price of the whole order before the first event of the period; empty if it was not placed then.",
      { currencyIn: "currency_before", total: true },
    ),
    column("text", "currency_before", "Currency before", "Currency of that amount (ISO 4217)."),
    column(
      "money",
      "amount_after",
      "Amount after",
      "Price of the whole order in the CRM after the last event of the period; empty if it is fully removed.",
      { currencyIn: "currency", total: true },
    ),
    column("text", "currency", "Currency", "Currency of the amount after (ISO 4217)."),
    column(
      "integer",
      "lines",
      "Lines",
      "Product lines of the order after the last event of the period, each once, however often more was bought.",
      { total: true },
    ),
    column(
      "money",
      "lines_amount",
      "Sum of lines",
      "What those lines cost together, where each has an amount and all are in one currency.",
      { currencyIn: "lines_currency", total: true },
    ),
    column("text", "lines_currency", "Currency of lines", "Currency of that sum (ISO 4217)."),
    column(
      "text",
      "verdict",
      "Verdict",
      "`agrees`: the lines cost what the order costs; `differs`: they do not; `not given`: the CRM does not give " +
        "the amount of the order or of every line; `ended`: it is fully removed; `not known`: the ledger no " +
        "longer has a form that part of it was bought from.",
    ),
  ],
};

const licences: Part = {
  name: "licences",
  title: "Licences",
  about: "One row for each beginning and each end of an assignment: who was granted an asset number, or lost it.",
  groupBy: "event",
  columns: [
    column("text", "event", "Event", "`granted`, `grant-adopted` (found on the platform), `revoked` or `found-gone`."),
    column("date", "date", "Date", "The local date on which it happened, in the statement's zone."),
    column("instant", "at", "Time", "When it happened."),
    ...customerColumns,
    column("text", "staff", "Staff", "The CRM's staff record, as `namespace/id`."),
    column("text", "member_global_id", "Member", "The member on the platform."),
    column("text", "asset_number", "Asset number", "The asset number that was held."),
    column("text", "enterprise_global_id", "Enterprise", "The enterprise on the platform."),
    column(
      "text",
      "crm_order",
      "CRM order",
      "The order that brought the asset number, as `namespace/id`; empty where none of ours did.",
    ),
    column("text", "channel_order_id", "Channel order", "The number that it was placed under."),
    ...proofColumns,
  ],
};

export const ordersStatement: StatementShape = {
  kind: "orders",
  version: 2,
  title: "Orders",
  about: "Orders that were placed, amended, ended or found, and licences that were granted or revoked.",
  parts: [lines, orders, licences],
};

interface OrderSums {
  order: Money | undefined;
  products: readonly (Money | undefined)[];
  /** The form of every purchase is still kept. */
  isKnown: boolean;
}

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
  // Lines in several currencies are never added up. They cannot agree with one amount.
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
