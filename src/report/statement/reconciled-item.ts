import type { Money } from "../../crm/model.ts";
import { type Comparison, isWithin, differencesOf } from "../reconciliation/case.ts";
import type { OrderForm, FormProduct } from "./order-form.ts";
import { bothDates } from "../crm-date.ts";
import type { Tolerances } from "./shape.ts";
import { formatKey } from "../../crm/keys.ts";

/** Null: the side does not have the figure. */
export interface Figures {
  units: number | null;
  nodes: number | null;
  seats: number | null;
  amount: Money | undefined;
  term: string | null;
  termEnd: string | null;
}

export interface ReconciledItem {
  comparison: Comparison;
  source: string | null;
  productName: string | null;
  productNumber: string | null;
  crm: Figures;
  sent: Figures;
  /** The platform shows no money: observed items have the sent amounts. */
  observed: Figures;
  /** Whether the amounts of the line or order are within tolerance; null without amounts. */
  isWithin: boolean | null;
  /** The amounts differ by more than the tolerance, so the item is `different`. */
  isOtherMoney: boolean;
  openSince: string | null;
}

/** `wantedSince`: since when the CRM wants it; `changedAt`: since when it has its present form. */
interface RecordFacts {
  source: string;
  wantedSince: string;
  changedAt: string;
}

export interface OrderForms {
  now: OrderForm | undefined;
  /** Forms that something was bought from for this customer, by channel order number. */
  sent: ReadonlyMap<string, OrderForm>;
  lastSent: OrderForm | undefined;
}

export interface CustomerFacts {
  branch: string | null;
  records: ReadonlyMap<string, RecordFacts>;
  orders: ReadonlyMap<string, OrderForms>;
  /** When `verify` first found each difference, by `differenceKey`. */
  differences: ReadonlyMap<string, string>;
}

export interface Fitted {
  comparison: Comparison;
  units: number;
}

/**
 * Limits the parts of an order to the quantities in the CRM. Units without an asset number share one row; surplus units
 * count as unwanted, the last ones first. The amendment later decides which units really go.
 */
export function fitted(parts: readonly Comparison[], now: OrderForm | undefined): Fitted[] {
  const wanted = Map.groupBy(
    parts.filter(({ level, inCrm }) => level === "product" && inCrm),
    ({ item }) => item ?? "",
  );
  const known = new Map<string, Known>();
  return parts.flatMap((row): Fitted[] => {
    if (row.level !== "product" || !row.inCrm) return [{ comparison: row, units: 0 }];
    const product = now?.products.get(row.item ?? "");
    const all = wanted.get(row.item ?? "") ?? [];
    if (product === undefined) return [{ comparison: row, units: 1 }];
    const { quantity } = product;
    const given = new Set(now?.numbers.get(product.assetId));
    const { places, numbered } = known.get(product.id) ?? knownOf(all, given);
    known.set(product.id, { places, numbered });
    const unnumbered = quantity - numbered;
    if ((row.assetNumber ?? null) === null) return [{ comparison: row, units: Math.max(1, unnumbered) }];
    if ((places.get(row) ?? 0) >= quantity) return notWanted(row, quantity, all.length);
    const own = { comparison: row, units: 1 };
    const isLast = row === all.at(-1) && numbered === all.length;
    return isLast && unnumbered > 0 ? [own, lacking(row, quantity, unnumbered)] : [own];
  });
}

interface Known {
  /** Numbers from the CRM come first, then existing units as they were bought. */
  places: ReadonlyMap<Comparison, number>;
  numbered: number;
}

function knownOf(all: readonly Comparison[], given: ReadonlySet<string>): Known {
  const rank = ({ assetNumber, sent }: Comparison): number => (given.has(assetNumber ?? "") ? 0 : sent ? 1 : 2);
  return {
    places: new Map(asBought(all, (one) => one, rank).map((row, place) => [row, place])),
    numbered: all.filter(({ assetNumber }) => (assetNumber ?? null) !== null).length,
  };
}

/** Units in the order of purchase; units without a place come last. */
export function asBought<Item>(
  items: readonly Item[],
  comparisonOf: (item: Item) => Comparison,
  rank: (row: Comparison) => number = () => 0,
): Item[] {
  const place = ({ unit }: Comparison): number => unit ?? Number.MAX_SAFE_INTEGER;
  return items.toSorted((one, other) => {
    const [left, right] = [comparisonOf(one), comparisonOf(other)];
    return rank(left) - rank(right) || place(left) - place(right);
  });
}

function lacking(row: Comparison, quantity: number, units: number): Fitted {
  const details = [`the CRM wants ${quantity} of it, and ${units} have no asset number yet`];
  const comparison: Comparison = {
    ...row,
    verdict: "missing",
    licenseOrderId: undefined,
    unit: undefined,
    assetNumber: null,
    sent: false,
    shown: null,
    finding: undefined,
    details,
  };
  return { comparison, units };
}

function notWanted(row: Comparison, quantity: number, there: number): Fitted[] {
  if (!row.sent && row.shown !== true) return [];
  const details = [`the CRM wants ${quantity} of it, and there are ${there}`, ...row.details];
  const verdict = row.shown === true ? "extra" : row.verdict;
  return [{ comparison: { ...row, inCrm: false, verdict, details }, units: 0 }];
}

type Amounts = "equal" | "tolerated" | "different";

export function amountsOf(crm: Money | undefined, sent: Money | undefined, tolerances: Tolerances): Amounts {
  return linesOf({ amount: crm, quantity: 1 }, { amount: sent, quantity: 1 }, tolerances);
}

type Line = Pick<FormProduct, "amount" | "quantity">;

/**
 * Compares the price of a line in the CRM and as sent. With different quantities the unit price may be equal and each
 * line rounded by half a minor unit. That rounding does not grow with the number of units.
 */
export function linesOf(crm: Line, sent: Line, { money = {} }: Tolerances): Amounts {
  if (crm.amount === undefined && sent.amount === undefined) return "equal";
  if (crm.amount === undefined || crm.amount.currency !== sent.amount?.currency) return "different";
  const [wanted, bought] = [BigInt(crm.quantity), BigInt(sent.quantity)];
  // Both are multiplied by the sent units instead of divided. The unit is the minor unit of the CRM's line.
  const apart = absolute(BigInt(crm.amount.minor) * bought - BigInt(sent.amount.minor) * wanted);
  const rounding = wanted === bought ? 0n : bought + (wanted < bought ? wanted : bought);
  if (2n * apart <= rounding) return "equal";
  return apart <= BigInt(money[crm.amount.currency] ?? 0) * bought ? "tolerated" : "different";
}

/** Whether the order, or a row's line, now has another amount than was sent. */
export function isOtherMoney(
  { level, item = "", channelOrderId = "" }: Comparison,
  form: OrderForm,
  { sent, lastSent }: OrderForms,
  tolerances: Tolerances,
): boolean {
  if (level === "order") return amountsOf(form.amount, lastSent?.amount, tolerances) === "different";
  const [wanted, bought] = [form.products.get(item), sent.get(channelOrderId)?.products.get(item)];
  return wanted !== undefined && bought !== undefined && linesOf(wanted, bought, tolerances) === "different";
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

export function changesOf(
  sent: FormProduct,
  crm: FormProduct,
  { seconds, zone }: Tolerances & { zone: string },
): ReadonlyMap<string, string> {
  const changes = new Map<string, string>();
  for (const name of ["nodes", "term"] as const)
    if (sent[name] !== crm[name]) changes.set(name, `CRM ${name}: sent with ${sent[name]}, now ${crm[name]}`);
  for (const name of ["limitStart", "limitEnd", "trialEnd"] as const) {
    const [was, is] = [sent[name], crm[name]];
    if (was?.at === is?.at || isWithin(name, was?.at, is?.at, seconds)) continue;
    const { before, after } = bothDates(was, is, zone);
    changes.set(name, `CRM ${name}: sent with ${before ?? "nothing"}, now ${after ?? "nothing"}`);
  }
  return changes;
}

export function differenceKey(of: { level: string; subject: string; class: string }): string {
  return JSON.stringify([of.level, of.subject, of.class]);
}

/**
 * When a difference began.
 * 1. `verify` has found it: the first time.
 * 2. Nothing was sent: when the CRM began to want it, or when an earlier assignment ended.
 * 3. The CRM changed since it was sent: the time of that change.
 * 4. Otherwise: when it was sent, or shown.
 */
export function openSince(row: Comparison, facts: CustomerFacts): string | null {
  if (row.verdict === "matched") return null;
  const [difference] = differencesOf([row], "9999");
  const kept = difference === undefined ? undefined : facts.differences.get(differenceKey(difference));
  if (kept !== undefined) return kept;
  const record = recordOf(row, facts);
  if (!row.sent && row.inCrm) {
    const since = (row.at === undefined ? record?.wantedSince : record?.changedAt) ?? row.at ?? null;
    return row.endedAt !== undefined && row.endedAt > (since ?? "") ? row.endedAt : since;
  }
  if (row.verdict === "not-observable" || row.finding !== undefined) return row.at ?? row.seenAt ?? null;
  return (row.sent ? record?.changedAt : row.seenAt) ?? row.at ?? row.seenAt ?? null;
}

export function recordOf({ level, order, staff }: Comparison, { records }: CustomerFacts): RecordFacts | undefined {
  if (level === "enterprise") return records.get("customers");
  if (staff !== undefined) return records.get(`staff ${formatKey(staff)}`);
  return order === undefined ? undefined : records.get(`orders ${formatKey(order)}`);
}
