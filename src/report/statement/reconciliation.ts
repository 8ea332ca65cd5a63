import type { Money } from "../../crm/model.ts";
import { driftClasses, levels, type CustomerCase } from "../reconciliation/case.ts";
import { amountColumns, column, type Column, type Row, type PartRow, type StatementShape } from "./shape.ts";
import { minus, plus, type Exact } from "./cells.ts";
import type { ReconciledItem, Figures } from "./reconciled-item.ts";
import { formatKey } from "../../crm/keys.ts";
import { crmDay } from "../crm-date.ts";
import { ageAt, ageBuckets } from "./tolerances.ts";
import { closedDetail, closedTerm } from "./closed-words.ts";

const sides = ["crm", "sent", "observed"] as const;
type Side = (typeof sides)[number];

const counts = ["units", "nodes", "seats"] as const;

const verdicts = ["matched", ...driftClasses] as const;
const titles: Record<Side, string> = { crm: "CRM", sent: "sent", observed: "observed" };
const between = [
  ["crm", "sent"],
  ["sent", "observed"],
] as const;

function countColumns(name: "count" | (typeof counts)[number], title: string, about: string): Column[] {
  return [
    ...sides.map((side) =>
      column("integer", `${side}_${name}`, `${title}, ${titles[side]}`, `${about} (${titles[side]}).`, { total: true }),
    ),
    ...between.map(([one, other]) =>
      column(
        "integer",
        `${name}_${one}_less_${other}`,
        `${title}: ${titles[one]} less ${titles[other]}`,
        `The difference between the two sides.`,
        { total: true },
      ),
    ),
  ];
}

const summaryColumns: readonly Column[] = [
  column("text", "level", "Level", "What was compared."),
  column("text", "verdict", "Verdict", "The result of the comparison."),
  column("text", "currency", "Currency", "Currency of the amounts; empty if there is no amount."),
  column("integer", "count", "Comparisons", "How many comparisons; one with two currencies counts with the CRM's.", {
    total: true,
  }),
  ...countColumns("count", "Count", "The number on this side"),
  ...countColumns("units", "Units", "Units of products"),
  ...countColumns("nodes", "Nodes", "Nodes of products"),
  ...countColumns("seats", "Seats", "Asset numbers that a person has"),
  ...sides.flatMap((side) =>
    amountColumns(`${side}_amount`, `Amount, ${titles[side]}`, `Their amounts (${titles[side]}).`, {
      currencyIn: "currency",
    }),
  ),
  ...between.flatMap(([one, other]) =>
    amountColumns(
      `amount_${one}_less_${other}`,
      `Amount: ${titles[one]} less ${titles[other]}`,
      "The difference between the two sides.",
      { currencyIn: "currency" },
    ),
  ),
];

interface Sum {
  level: string;
  verdict: string;
  currency: string | null;
  comparisons: number;
  values: Map<string, Exact>;
}

export class ReconciliationTotals {
  readonly #sums = new Map<string, Sum>();

  add(item: ReconciledItem): void {
    const { comparison, crm, sent, observed } = item;
    const figures = { crm, sent, observed };
    const isThere = { crm: comparison.inCrm, sent: comparison.sent, observed: comparison.shown === true };
    const own = this.#sumOf(item, crm.amount?.currency ?? sent.amount?.currency ?? null);
    own.comparisons += 1;
    for (const side of sides) {
      add(own, `${side}_count`, isThere[side] ? 1 : 0);
      for (const name of counts) add(own, `${side}_${name}`, figures[side][name]);
      const { amount } = figures[side];
      if (amount !== undefined) add(this.#sumOf(item, amount.currency), `${side}_amount`, amount.minor);
    }
  }

  #sumOf({ comparison: { level, verdict } }: ReconciledItem, currency: string | null): Sum {
    const name = JSON.stringify([level, verdict, currency]);
    const known = this.#sums.get(name) ?? { level, verdict, currency, comparisons: 0, values: new Map() };
    this.#sums.set(name, known);
    return known;
  }

  rows(): Row[] {
    const places: readonly string[] = levels;
    const order: readonly string[] = verdicts;
    return [...this.#sums.values()]
      .toSorted(
        (one, other) =>
          places.indexOf(one.level) - places.indexOf(other.level) ||
          order.indexOf(one.verdict) - order.indexOf(other.verdict) ||
          ((one.currency ?? "") < (other.currency ?? "") ? -1 : 1),
      )
      .map(rowOf);
  }
}

function add({ values }: Sum, name: string, value: number | null): void {
  if (value !== null) values.set(name, plus(values.get(name) ?? 0, value));
}

function rowOf({ level, verdict, currency, comparisons, values }: Sum): Row {
  const cells: Record<string, string | Exact | null> = { level, verdict, currency, count: comparisons };
  for (const name of ["count", ...counts, "amount"] as const) {
    for (const side of sides) cells[`${side}_${name}`] = values.get(`${side}_${name}`) ?? null;
    const isAny = sides.some((side) => values.has(`${side}_${name}`));
    for (const [one, other] of between) {
      const difference = minus(values.get(`${one}_${name}`) ?? 0, values.get(`${other}_${name}`) ?? 0);
      cells[`${name}_${one}_less_${other}`] = isAny ? difference : null;
    }
  }
  return cells;
}

const noMoney =
  "The platform shows no money: an observed item has the money of the order that was sent. Money of orders and of " +
  "products is compared apart and never added up: an order has an amount of its own.";

function figureColumns(side: (typeof sides)[number]): Column[] {
  const title = titles[side];
  return [
    column("integer", `${side}_units`, `Units, ${title}`, "Units of the product: asset numbers that have it.", {
      total: true,
    }),
    column("integer", `${side}_nodes`, `Nodes, ${title}`, "Nodes of the product in all these units.", { total: true }),
    column("integer", `${side}_seats`, `Seats, ${title}`, "Seats: asset numbers that a person has.", { total: true }),
    column("text", `${side}_term`, `Term, ${title}`, "Term of the product as years-months-days."),
    column("instant", `${side}_term_end`, `Term ends, ${title}`, "Until when the product may be used."),
  ];
}

const about: readonly Column[] = [
  column("text", "level", "Level", `What is compared: ${levels.map((level) => `\`${level}\``).join(", ")}.`),
  column(
    "text",
    "verdict",
    "Verdict",
    "`matched`, `missing`, `extra`, `different`, `in-transit` or `not-observable`; `different` too where the CRM " +
      "has another amount, term or number of nodes now than was sent.",
  ),
  column("text", "customer", "Customer", "Key of the customer."),
  column("text", "branch", "Branch", "Code of the branch that looks after the customer."),
  column("text", "source", "Source", "The source that gives the record."),
  column("text", "enterprise_global_id", "Enterprise", "The enterprise that the customer is linked with."),
  column("text", "crm_order", "CRM order", "Key of the order in the CRM."),
  column("date", "crm_date", "CRM date", "Date that the CRM gives the order."),
  column("text", "channel_order_id", "Channel order", "Number under which it was bought."),
  column("text", "license_order_id", "Licence order", "Number that the platform gave."),
  column("text", "license_type", "Licence type", "Licence type of the asset."),
  column("text", "asset_number", "Asset number", "The asset number; empty if it has no number yet."),
  column("text", "item", "Item", "Id of the product, or number of the package."),
  column("text", "product", "Product", "Name of the product or package."),
  column("text", "product_number", "Product number", "Number of the product or package, else its application key."),
  column("text", "staff", "Staff", "Key of the person; no name."),
  column("text", "member_global_id", "Member", "The member on the platform."),
  column("boolean", "in_crm", "In CRM", "The CRM wants it."),
  column("boolean", "sent", "Sent", "It was sent, given or taken over."),
  column("boolean", "shown", "Shown", "The platform shows it; empty where nothing can show it or nobody looked."),
];

const observedMoney =
  "Of a product the sent amount of the visible units; of an order the sent amount without its " +
  "invisible lines; empty if one of them has no amount in the order's currency.";

const judged: readonly Column[] = [
  ...amountColumns(
    "crm_amount",
    "Amount, CRM",
    "Amount that the CRM has now: of an order its own, of a product the part of these units; what does not divide " +
      "falls to those that were bought later.",
  ),
  ...amountColumns("sent_amount", "Amount, sent", "The same of the form of the order that was sent."),
  ...amountColumns("observed_amount", "Amount, observed", observedMoney, {
    currencyIn: "sent_amount_currency",
  }),
  ...amountColumns(
    "amount_difference",
    "CRM less sent",
    "Amount in the CRM less the one sent, a side without one counting as none; empty where the currencies differ.",
  ),
  column(
    "boolean",
    "within_tolerance",
    "Tolerated",
    "The amounts of the whole line, or of the order, differ by no more than the tolerance of their currency; empty " +
      "where there is no amount.",
  ),
  column(
    "list",
    "details",
    "Details",
    "What differs, and why, in figures, ids and names of fields; `crm-sync explain` has the words of the CRM and of " +
      "the services.",
  ),
  column("text", "operation", "Operation", "The operation that sent it."),
  column("instant", "sent_at", "Sent at", "When it was sent, given or linked."),
  column("instant", "seen_at", "Seen at", "When the platform was last read for it."),
  column("integer", "age_hours", "Age of reading", "Hours from that reading to the latest time of the statement."),
  column("instant", "open_since", "Open since", "Since when it is not as meant, as far as is known."),
  column("integer", "open_hours", "Open for", "Hours from then to the latest time of the statement."),
  column(
    "text",
    "ageing",
    "Ageing",
    `The same in the classes of the configuration: ${ageBuckets()
      .map((name) => `\`${name}\``)
      .join(", ")}.`,
  ),
];

export const reconciliationStatement: StatementShape = {
  kind: "reconciliation",
  version: 4,
  tolerates: true,
  title: "Reconciliation",
  about: `The CRM, the changes that were sent and the platform, compared item by item. ${noMoney}`,
  parts: [
    {
      name: "summary",
      title: "Summary",
      about:
        "How much of each level has each verdict, on each side, for each currency by itself; items without " +
        `money are in a row without a currency. It is checked against the items. ${noMoney}`,
      groupBy: "verdict",
      columns: summaryColumns,
    },
    {
      name: "items",
      title: "Items",
      about: `One row for each comparison. ${noMoney}`,
      groupBy: "verdict",
      columns: [...about, ...sides.flatMap(figureColumns), ...judged],
    },
  ],
};

interface Told {
  branch: string | null;
  knownAt: string | null;
  zone: string;
  ageing: readonly number[] | undefined;
}

export function itemRow(item: CustomerCase, one: ReconciledItem, { branch, knownAt, zone, ageing }: Told): PartRow {
  const { comparison: row, crm, sent, observed, openSince } = one;
  const difference = amountDifference(sent.amount, crm.amount);
  const { hours: openHours, bucket } = ageAt(openSince, knownAt, ageing);
  return {
    part: "items",
    row: {
      level: row.level,
      verdict: row.verdict,
      customer: formatKey(item.key),
      branch,
      source: one.source,
      enterprise_global_id: item.link?.enterpriseGlobalId ?? null,
      crm_order: row.order === undefined ? null : formatKey(row.order),
      crm_date: crmDay(row.crmDate, zone),
      channel_order_id: row.channelOrderId ?? null,
      license_order_id: row.licenseOrderId ?? null,
      license_type: row.licenseType ?? null,
      asset_number: row.assetNumber ?? null,
      item: row.item ?? null,
      product: one.productName,
      product_number: one.productNumber,
      staff: row.staff === undefined ? null : formatKey(row.staff),
      member_global_id: row.memberGlobalId ?? null,
      in_crm: row.inCrm,
      sent: row.sent,
      shown: row.shown,
      ...figureCells("crm", crm),
      ...figureCells("sent", sent),
      ...figureCells("observed", observed),
      crm_amount: crm.amount?.minor ?? null,
      crm_amount_currency: crm.amount?.currency ?? null,
      sent_amount: sent.amount?.minor ?? null,
      sent_amount_currency: sent.amount?.currency ?? null,
      observed_amount: observed.amount?.minor ?? null,
      amount_difference: difference?.minor ?? null,
      amount_difference_currency: difference?.currency ?? null,
      within_tolerance: one.isWithin,
      details: row.details.map(closedDetail),
      operation: row.operationId ?? null,
      sent_at: row.at ?? null,
      seen_at: row.seenAt ?? null,
      age_hours: ageAt(row.seenAt, knownAt).hours,
      open_since: openSince,
      open_hours: openHours,
      ageing: bucket,
    },
  };
}

function figureCells(side: (typeof sides)[number], { units, nodes, seats, term, termEnd }: Figures): Row {
  return {
    [`${side}_units`]: units,
    [`${side}_nodes`]: nodes,
    [`${side}_seats`]: seats,
    [`${side}_term`]: closedTerm(term),
    [`${side}_term_end`]: termEnd,
  };
}

/** The amount after minus the amount before, in one currency. A missing amount counts as 0. */
function amountDifference(
  before: Money | undefined,
  after: Money | undefined,
): { currency: string; minor: Exact } | undefined {
  const currency = after?.currency ?? before?.currency;
  if (currency === undefined || (before?.currency ?? currency) !== currency) return undefined;
  return { currency, minor: minus(after?.minor ?? 0, before?.minor ?? 0) };
}
