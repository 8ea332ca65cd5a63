import type { JsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Money } from "../../crm/model.ts";
import type { Agreement, Comparison, CustomerCase } from "../reconciliation/case.ts";
import { shownForms } from "../reconciliation/compare-orders.ts";
import { instantOf } from "../reconciliation/tolerance.ts";
import { openSince, recordOf } from "./open-since.ts";
import type { OrderForm } from "./order-form.ts";
import { shareOf } from "./order-form.ts";
import type { CustomerFacts, Figures, OrderForms, ReconciledItem } from "./reconciled-case.ts";
import { amountsOf, changesOf, worstOf } from "./reconciled-verdict.ts";
import { fitted } from "./reconciled-units.ts";
import type { Tolerances } from "./shape.ts";

const none: Figures = { units: null, nodes: null, seats: null, amount: undefined, term: null, termEnd: null };
const noForms: OrderForms = { now: undefined, sent: new Map(), lastSent: undefined };

/** Every comparison of a customer with the figures of its sides, in the order of the comparisons. */
export function reconciledItems(
  item: CustomerCase,
  rows: readonly Comparison[],
  facts: CustomerFacts,
  tolerances: Tolerances,
): ReconciledItem[] {
  const items: ReconciledItem[] = [];
  for (let at = 0; at < rows.length;) {
    const row = rows[at];
    if (row === undefined) break;
    at += 1;
    if (row.level !== "order") {
      items.push(otherItem(item, row, facts));
      continue;
    }
    const parts: Comparison[] = [];
    for (; isPart(rows[at]); at += 1) parts.push(...rows.slice(at, at + 1));
    items.push(...orderItems(item, { row, parts }, facts, tolerances));
  }
  return items.map((one) => ({ ...one, openSince: openSince(one.comparison, facts) }));
}

/** A product or package of the order that it stands behind. */
function isPart(row: Comparison | undefined): boolean {
  return row?.order !== undefined && (row.level === "product" || row.level === "package");
}

function orderItems(
  item: CustomerCase,
  { row, parts }: { row: Comparison; parts: readonly Comparison[] },
  facts: CustomerFacts,
  tolerances: Tolerances,
): ReconciledItem[] {
  const forms = facts.orders.get(row.order === undefined ? "" : formatKey(row.order)) ?? noForms;
  const shares = new Shares(forms);
  const items = fitted(parts, forms.now).map(({ comparison, units }): ReconciledItem => {
    if (comparison.level === "package") return packageItem(comparison, forms, facts);
    return productItem(item, { comparison, units }, { forms, shares, tolerances }, facts);
  });
  const wanted = row.inCrm ? forms.now?.amount : undefined;
  const sent = row.sent ? forms.lastSent?.amount : undefined;
  const isSent = row.sent && forms.lastSent !== undefined;
  const amounts = row.inCrm && isSent ? amountsOf(wanted, sent, tolerances) : "equal";
  const verdicts = items.map(({ comparison }) => comparison.verdict);
  const isChanged = items.some(({ comparison }, index) => comparison !== parts[index]);
  const base = isChanged && verdicts.length > 0 ? verdicts : [row.verdict];
  const verdict = worstOf(amounts === "different" ? [...base, amounts] : base);
  return [
    {
      ...bare({ ...row, verdict, details: orderDetails(row, isChanged ? verdicts : undefined, amounts) }, facts),
      crm: { ...none, amount: wanted },
      sent: { ...none, amount: sent },
      observed: { ...none, amount: row.shown === true ? sent : undefined },
      isTolerated: amounts === "tolerated",
    },
    ...items,
  ];
}

const counted = /^\d+ (?:missing|extra|different|in-transit|not-observable)$/u;
const otherAmount = "amount: the CRM has another one than it was sent with";

function orderDetails(
  { details }: Comparison,
  verdicts: readonly Agreement[] | undefined,
  amounts: ReturnType<typeof amountsOf>,
): string[] {
  const own = verdicts === undefined ? details : details.filter((detail) => !counted.test(detail));
  const counts = new Map<Agreement, number>();
  for (const verdict of verdicts ?? []) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const apart = [...counts]
    .filter(([verdict]) => verdict !== "matched")
    .map(([verdict, count]) => `${count} ${verdict}`);
  return [...own, ...apart, ...(amounts === "different" ? [otherAmount] : [])];
}

/**
 * The part of each amount that falls to the next units of a product. Units that were bought later come after those that
 * were bought before: of the form that they were bought from they have the part that comes after theirs.
 */
class Shares {
  readonly #given = { crm: new Map<string, number>(), sent: new Map<string, number>() };
  readonly #forms: OrderForms;

  constructor(forms: OrderForms) {
    this.#forms = forms;
  }

  /** Of what the CRM has now. */
  wanted(product: string, units: number): Money | undefined {
    return this.#next("crm", this.#forms.now, product, units);
  }

  /** Of what was bought under a channel order number. */
  bought(product: string, purchase: string): Money | undefined {
    return this.#next("sent", this.#forms.sent.get(purchase), product, 1);
  }

  #next(side: "crm" | "sent", form: OrderForm | undefined, product: string, units: number): Money | undefined {
    const first = this.#given[side].get(product) ?? 0;
    this.#given[side].set(product, first + units);
    const { amount, quantity } = form?.products.get(product) ?? {};
    if (amount === undefined || quantity === undefined) return undefined;
    return shareOf(amount, quantity, Math.max(0, Math.min(first, quantity - units)), units);
  }
}

function productItem(
  item: CustomerCase,
  { comparison: row, units }: { comparison: Comparison; units: number },
  { forms, shares, tolerances }: { forms: OrderForms; shares: Shares; tolerances: Tolerances },
  facts: CustomerFacts,
): ReconciledItem {
  const id = row.item ?? "";
  const purchase = row.channelOrderId ?? "";
  const wanted = row.inCrm ? forms.now?.products.get(id) : undefined;
  const bought = row.sent ? forms.sent.get(purchase)?.products.get(id) : undefined;
  const crm: Figures = wanted === undefined ? none : { ...figuresOf(wanted, units), amount: shares.wanted(id, units) };
  const sent: Figures = bought === undefined ? none : { ...figuresOf(bought, 1), amount: shares.bought(id, purchase) };
  const amounts =
    wanted === undefined || bought === undefined
      ? "equal"
      : wanted.quantity === bought.quantity
        ? amountsOf(wanted.amount, bought.amount, tolerances)
        : amountsOf(crm.amount, sent.amount, tolerances, 1);
  const changes = wanted === undefined || bought === undefined ? [] : changesOf(bought, wanted, tolerances);
  const comparison = judged(row, amounts, changes);
  const named = wanted ?? bought ?? forms.lastSent?.products.get(id);
  return {
    ...bare(comparison, facts),
    productName: named?.name ?? null,
    productNumber: named?.number ?? null,
    crm: row.inCrm && crm === none ? { ...none, units } : crm,
    sent: row.sent && sent === none ? { ...none, units: 1 } : sent,
    observed: row.shown === true ? { ...shownFigures(item, row), amount: sent.amount } : none,
    isTolerated: amounts === "tolerated",
  };
}

/** What the platform shows as it was sent, and the CRM has otherwise now, is different. */
function judged(row: Comparison, amounts: ReturnType<typeof amountsOf>, changes: readonly string[]): Comparison {
  const notes = amounts === "different" ? [otherAmount] : [];
  const isJudged = row.verdict === "matched" || row.verdict === "different";
  const details = [...(isJudged ? [] : changes), ...notes];
  if (details.length === 0) return row;
  const isLesser = row.verdict === "matched" || row.verdict === "not-observable" || row.verdict === "in-transit";
  return { ...row, verdict: isLesser ? "different" : row.verdict, details: [...row.details, ...details] };
}

function figuresOf(product: { nodes: number; term: string; limitEnd: string | null }, units: number): Figures {
  const termEnd = product.limitEnd === null ? null : isoOf(Date.parse(product.limitEnd));
  return { ...none, units, nodes: product.nodes * units, term: product.term, termEnd };
}

/** What M7 shows of a product under an asset number. */
function shownFigures(item: CustomerCase, { assetNumber, item: id, channelOrderId }: Comparison): Figures {
  const shown = item.shown.products.get(`${assetNumber ?? ""}/${id ?? ""}`)?.body;
  if (shown === undefined) return { ...none, units: 1 };
  const body = shownForms(shown).find((form) => form["channelOrderId"] === channelOrderId) ?? shown;
  const end = instantOf(body["limitEndTime"]);
  return {
    ...none,
    units: 1,
    nodes: countOf(body["limitConcurrent"]),
    term: textOf(body, "timeDurationExpression"),
    termEnd: end === undefined ? null : isoOf(end),
  };
}

function countOf(value: JsonObject[string] | undefined): number | null {
  if ((typeof value !== "number" && typeof value !== "string") || value === "") return null;
  const count = Number(value);
  return Number.isSafeInteger(count) ? count : null;
}

function isoOf(at: number): string | null {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function textOf(body: JsonObject | undefined, name: string): string | null {
  const value = body?.[name];
  return typeof value === "string" && value !== "" ? value : null;
}

function packageItem(row: Comparison, { now, sent, lastSent }: OrderForms, facts: CustomerFacts): ReconciledItem {
  const forms = [now, sent.get(row.channelOrderId ?? ""), lastSent];
  const named = forms.flatMap((form) => [...(form?.packages.values() ?? [])]).find(({ number }) => number === row.item);
  return { ...bare(row, facts), productName: named?.name ?? null, productNumber: row.item ?? null };
}

/** What belongs to no order that is compared: enterprises, people, what they hold, and what is there beside it. */
function otherItem(item: CustomerCase, row: Comparison, facts: CustomerFacts): ReconciledItem {
  const one = bare(row, facts);
  if (row.level === "assignment") {
    // What the services say otherwise of one seat is no other seat.
    const isOne = row.finding !== "shown-twice" && row.item === undefined;
    const side = (isThere: boolean): Figures => (isThere && isOne ? { ...none, seats: 1 } : none);
    return { ...one, crm: side(row.inCrm), sent: side(row.sent), observed: side(row.shown === true) };
  }
  if (row.level !== "product") return one;
  const body = item.shown.products.get(`${row.assetNumber ?? ""}/${row.item ?? ""}`)?.body;
  return {
    ...one,
    productName: textOf(body, "productName"),
    productNumber: textOf(body, "gmsPid") ?? textOf(body, "appKey"),
    observed: row.finding === "shown-twice" || row.verdict === "in-transit" ? none : shownFigures(item, row),
  };
}

function bare(comparison: Comparison, facts: CustomerFacts): ReconciledItem {
  const of = { productName: null, productNumber: null, crm: none, sent: none, observed: none };
  return {
    comparison,
    source: recordOf(comparison, facts)?.source ?? null,
    ...of,
    isTolerated: false,
    openSince: null,
  };
}
