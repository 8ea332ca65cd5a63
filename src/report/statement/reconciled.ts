import type { JsonObject } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Money } from "../../crm/model.ts";
import {
  type Agreement,
  type Comparison,
  type CustomerCase,
  instantOf,
  verdictCounts,
  worstOf,
} from "../reconciliation/case.ts";
import { shownForms } from "../reconciliation/compare-orders.ts";
import {
  amountsOf,
  asBought,
  changesOf,
  fitted,
  linesOf,
  openSince,
  recordOf,
  type CustomerFacts,
  type Figures,
  type Fitted,
  type OrderForms,
  type ReconciledItem,
} from "./reconciled-item.ts";
import { type FormProduct, type OrderForm, shareOf } from "./order-form.ts";
import type { Tolerances } from "./shape.ts";

const none: Figures = { units: null, nodes: null, seats: null, amount: undefined, term: null, termEnd: null };
const noForms: OrderForms = { now: undefined, sent: new Map(), lastSent: undefined };

export function reconciledItems(
  item: CustomerCase,
  rows: readonly Comparison[],
  facts: CustomerFacts,
  { knownAt, ...tolerances }: Tolerances & { knownAt: string | null; zone: string },
): ReconciledItem[] {
  const before = transitFrom(tolerances, knownAt);
  const items: ReconciledItem[] = [];
  for (let at = 0; at < rows.length;) {
    const row = rows[at];
    if (row === undefined) break;
    at += 1;
    if (row.level !== "order") {
      items.push(otherItem(item, onItsWay(row, before), facts));
      continue;
    }
    const parts: Comparison[] = [];
    for (; isPart(rows[at]); at += 1) parts.push(...rows.slice(at, at + 1));
    items.push(...orderItems(item, { row, parts, before }, facts, tolerances));
  }
  return openedItems(items, facts);
}

/** An order is open since its first open part, or since its own amount differs. */
function openedItems(items: readonly ReconciledItem[], facts: CustomerFacts): ReconciledItem[] {
  const opened: ReconciledItem[] = [];
  let parts: string | null = null;
  // Backwards, because the parts of an order come after it.
  for (const one of items.toReversed()) {
    const own = openSince(one.comparison, facts);
    if (one.comparison.level === "order") {
      const isOwn = parts === null || one.isOtherMoney;
      opened.push({ ...one, openSince: isOwn ? earlier(own, parts) : parts });
    } else opened.push({ ...one, openSince: own });
    parts = isPart(one.comparison) ? earlier(own, parts) : null;
  }
  return opened.toReversed();
}

function earlier(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other < one) ? other : one;
}

function isPart(row: Comparison | undefined): boolean {
  return row?.order !== undefined && (row.level === "product" || row.level === "package");
}

/** Things sent after this instant may be in transit; undefined without a tolerance. */
function transitFrom({ transitDays = 0 }: Tolerances, knownAt: string | null): string | undefined {
  if (transitDays === 0 || knownAt === null) return undefined;
  return toInstant(Date.parse(knownAt) - transitDays * 86_400_000);
}

/** A missing thing that was sent recently is in transit. */
function onItsWay(row: Comparison, since: string | undefined): Comparison {
  const isMissing = row.verdict === "missing" && row.sent && row.shown === false;
  if (!isMissing || since === undefined || (row.at ?? "") <= since) return row;
  return { ...row, verdict: "in-transit", details: [...row.details, "sent so lately that it may be on its way"] };
}

function orderItems(
  item: CustomerCase,
  { row, parts: compared, before }: { row: Comparison; parts: readonly Comparison[]; before: string | undefined },
  facts: CustomerFacts,
  tolerances: Tolerances & { zone: string },
): ReconciledItem[] {
  const forms = facts.orders.get(row.order === undefined ? "" : formatKey(row.order)) ?? noForms;
  const parts = compared.map((part) => withDates(part, changesIn(part, forms, tolerances)));
  const units = fitted(
    parts.map((part) => onItsWay(part, before)),
    forms.now,
  );
  const shares = sharesOf(units, forms);
  const items = units.map((unit): ReconciledItem => {
    if (unit.comparison.level === "package") return packageItem(unit.comparison, forms, facts);
    return productItem(item, unit, { forms, share: shares.get(unit) ?? noShare, tolerances }, facts);
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
      ...bare(
        {
          ...row,
          verdict,
          details: orderDetails(row, isChanged ? verdicts : undefined, amounts),
        },
        facts,
      ),
      crm: { ...none, amount: wanted },
      sent: { ...none, amount: sent },
      observed: { ...none, amount: observedOf(row, sent, items) },
      isWithin: isWithinTolerance(wanted, sent, amounts),
      isOtherMoney: amounts === "different",
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
  return [...own, ...verdictCounts(verdicts ?? []), ...(amounts === "different" ? [otherAmount] : [])];
}

function observedOf(row: Comparison, sent: Money | undefined, items: readonly ReconciledItem[]): Money | undefined {
  if (row.shown !== true || sent === undefined) return undefined;
  let { minor } = sent;
  for (const { comparison, sent: line } of items) {
    if (comparison.level !== "product" || !comparison.sent || comparison.shown === true) continue;
    // The share of a line without an amount, or in another currency, is unknown.
    if (line.amount?.currency !== sent.currency) return undefined;
    minor -= line.amount.minor;
  }
  return Number.isSafeInteger(minor) ? { currency: sent.currency, minor } : undefined;
}

interface Share {
  crm: Money | undefined;
  sent: Money | undefined;
}
const noShare: Share = { crm: undefined, sent: undefined };

/**
 * Each row's share of the amounts. Units get their shares in the order of purchase, whatever their numbers: later
 * purchases from the same form get later shares.
 */
function sharesOf(units: readonly Fitted[], forms: OrderForms): ReadonlyMap<Fitted, Share> {
  const given = { crm: new Map<string, number>(), sent: new Map<string, number>() };
  const next = (side: "crm" | "sent", form: OrderForm | undefined, id: string, count: number): Money | undefined => {
    const first = given[side].get(id) ?? 0;
    given[side].set(id, first + count);
    const { amount, quantity } = form?.products.get(id) ?? {};
    if (amount === undefined || quantity === undefined) return undefined;
    return shareOf(amount, quantity, Math.max(0, Math.min(first, quantity - count)), count);
  };
  const products = units.filter(({ comparison: { level } }) => level === "product");
  return new Map(
    asBought(products, ({ comparison }) => comparison).map((unit) => {
      const { inCrm, sent, item = "", channelOrderId = "" } = unit.comparison;
      const share: Share = {
        crm: inCrm && forms.now?.products.has(item) ? next("crm", forms.now, item, unit.units) : undefined,
        sent: sent ? next("sent", forms.sent.get(channelOrderId), item, 1) : undefined,
      };
      return [unit, share] as const;
    }),
  );
}

function productItem(
  item: CustomerCase,
  { comparison: row, units }: Fitted,
  { forms, share, tolerances }: { forms: OrderForms; share: Share; tolerances: Tolerances & { zone: string } },
  facts: CustomerFacts,
): ReconciledItem {
  const id = row.item ?? "";
  const purchase = row.channelOrderId ?? "";
  const wanted = row.inCrm ? forms.now?.products.get(id) : undefined;
  const bought = row.sent ? forms.sent.get(purchase)?.products.get(id) : undefined;
  const crm: Figures = wanted === undefined ? none : { ...figuresOf(wanted, units), amount: share.crm };
  const sent: Figures = bought === undefined ? none : { ...figuresOf(bought, 1), amount: share.sent };
  const amounts = wanted === undefined || bought === undefined ? "equal" : linesOf(wanted, bought, tolerances);
  const changes = changesIn(row, forms, tolerances);
  const comparison = judged(row, amounts, changes);
  const named = wanted ?? bought ?? forms.lastSent?.products.get(id);
  return {
    ...bare(comparison, facts),
    productName: named?.name ?? null,
    productNumber: named?.number ?? null,
    crm: row.inCrm && crm === none ? { ...none, units } : crm,
    sent: row.sent && sent === none ? { ...none, units: 1 } : sent,
    observed: row.shown === true ? { ...shownFigures(item, row), amount: sent.amount } : none,
    isWithin: isWithinTolerance(crm.amount, sent.amount, amounts),
    isOtherMoney: amounts === "different",
  };
}

/** Null if there are no amounts. A missing side counts as 0. */
function isWithinTolerance(
  crm: Money | undefined,
  sent: Money | undefined,
  amounts: ReturnType<typeof amountsOf>,
): boolean | null {
  if (crm === undefined && sent === undefined) return null;
  const isCompared = crm !== undefined && sent !== undefined;
  return isCompared ? amounts !== "different" : (crm ?? sent)?.minor === 0;
}

function changesIn(
  { inCrm, sent, item = "", channelOrderId = "" }: Comparison,
  forms: OrderForms,
  tolerances: Tolerances & { zone: string },
): ReadonlyMap<string, string> {
  const wanted = inCrm ? forms.now?.products.get(item) : undefined;
  const bought = sent ? forms.sent.get(channelOrderId)?.products.get(item) : undefined;
  return wanted === undefined || bought === undefined ? new Map() : changesOf(bought, wanted, tolerances);
}

/** If the platform shows the sent values and the CRM has changed since, the item is `different`. */
function judged(
  row: Comparison,
  amounts: ReturnType<typeof amountsOf>,
  changes: ReadonlyMap<string, string>,
): Comparison {
  const notes = amounts === "different" ? [otherAmount] : [];
  const isJudged = row.verdict === "matched" || row.verdict === "different";
  const details = [...(isJudged ? [] : changes.values()), ...notes];
  if (details.length === 0) return row;
  const isLesser = row.verdict === "matched" || row.verdict === "not-observable" || row.verdict === "in-transit";
  return { ...row, verdict: isLesser ? "different" : row.verdict, details: [...row.details, ...details] };
}

const changedDate = /^CRM (?<field>limitStart|limitEnd|trialEnd): /u;

function withDates(row: Comparison, changes: ReadonlyMap<string, string>): Comparison {
  if (changes.size === 0 || !row.details.some((detail) => changedDate.test(detail))) return row;
  const dated = (detail: string): string => changes.get(changedDate.exec(detail)?.groups?.["field"] ?? "") ?? detail;
  return { ...row, details: row.details.map((detail) => dated(detail)) };
}

function figuresOf(product: Pick<FormProduct, "nodes" | "term" | "limitEnd">, units: number): Figures {
  const termEnd = product.limitEnd === null ? null : isoOf(Date.parse(product.limitEnd.at));
  return { ...none, units, nodes: product.nodes * units, term: product.term, termEnd };
}

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

function otherItem(item: CustomerCase, row: Comparison, facts: CustomerFacts): ReconciledItem {
  const one = bare(row, facts);
  if (row.level === "assignment") {
    // Readings that disagree about one seat are not a second seat.
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
    isWithin: null,
    isOtherMoney: false,
    openSince: null,
  };
}
