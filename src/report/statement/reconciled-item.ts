import type { Money } from "../../crm/model.ts";
import { type Comparison, isWithin, differencesOf } from "../reconciliation/case.ts";
import type { OrderForm, FormProduct } from "./order-form.ts";
import { bothDates } from "../crm-date.ts";
import type { Tolerances } from "./shape.ts";
import { formatKey } from "../../crm/keys.ts";

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
interface RecordFacts {
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

/** A comparison, and how many units of it the CRM wants. */
export interface Fitted {
  comparison: Comparison;
  units: number;
}

/**
 * The parts of an order, of each product as many as the CRM wants: those that have no asset number yet stand in one
 * row, and of more than it wants the last ones are not wanted. Which of them really go is decided when the order is
 * amended.
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
    const given = new Set(now?.assets.get(product.assetId)?.assetNumbers);
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

/** What is known of all units of a product. */
interface Known {
  /** Numbers that the CRM gives come first, then what is there, each as it was bought. */
  places: ReadonlyMap<Comparison, number>;
  /** How many have an asset number. */
  numbered: number;
}

function knownOf(all: readonly Comparison[], given: ReadonlySet<string>): Known {
  const rank = ({ assetNumber, sent }: Comparison): number => (given.has(assetNumber ?? "") ? 0 : sent ? 1 : 2);
  return {
    places: new Map(asBought(all, (one) => one, rank).map((row, place) => [row, place])),
    numbered: all.filter(({ assetNumber }) => (assetNumber ?? null) !== null).length,
  };
}

/** Units as they were bought, whatever numbers they have; those without a place among them come last. */
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
    // It is bought after those that are there.
    unit: undefined,
    assetNumber: null,
    sent: false,
    shown: null,
    finding: undefined,
    details,
  };
  return { comparison, units };
}

/** A unit beyond those that the CRM wants; one that was never sent is nothing at all. */
function notWanted(row: Comparison, quantity: number, there: number): Fitted[] {
  if (!row.sent && row.shown !== true) return [];
  const details = [`the CRM wants ${quantity} of it, and there are ${there}`, ...row.details];
  const verdict = row.shown === true ? "extra" : row.verdict;
  return [{ comparison: { ...row, inCrm: false, verdict, details }, units: 0 }];
}

type Amounts = "equal" | "tolerated" | "different";

/** Whether the CRM has the amount that something was sent with. */
export function amountsOf(crm: Money | undefined, sent: Money | undefined, tolerances: Tolerances): Amounts {
  return linesOf({ amount: crm, quantity: 1 }, { amount: sent, quantity: 1 }, tolerances);
}

/** What so many units cost together. */
type Line = Pick<FormProduct, "amount" | "quantity">;

/**
 * Whether the units of a line cost in the CRM what they were sent with. Of as many units the amounts are equal or not.
 * Of more or fewer units a unit may cost the same and each of the two lines have been rounded, by half a minor unit at
 * most: that is as much for very many units as for two.
 */
export function linesOf(crm: Line, sent: Line, { money = {} }: Tolerances): Amounts {
  if (crm.amount === undefined && sent.amount === undefined) return "equal";
  if (crm.amount === undefined || crm.amount.currency !== sent.amount?.currency) return "different";
  const [wanted, bought] = [BigInt(crm.quantity), BigInt(sent.quantity)];
  // Both are multiplied by the units that were sent, so that nothing is divided: in minor units of the CRM's line.
  const apart = absolute(BigInt(crm.amount.minor) * bought - BigInt(sent.amount.minor) * wanted);
  const rounding = wanted === bought ? 0n : bought + (wanted < bought ? wanted : bought);
  if (2n * apart <= rounding) return "equal";
  return apart <= BigInt(money[crm.amount.currency] ?? 0) * bought ? "tolerated" : "different";
}

/** Whether an order, or the line that a row is of, has another amount in a form of the order than it was sent with. */
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

/** What the CRM has otherwise now than it was when the product was sent, field by field. */
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

/** How a difference that `verify` keeps is found. */
export function differenceKey(of: { level: string; subject: string; class: string }): string {
  return JSON.stringify([of.level, of.subject, of.class]);
}

/**
 * When a difference began. If `verify` has seen it: its first sight. If nothing was sent: when the CRM began to want it,
 * or what was given for that before ended.
 * If the CRM has changed it since it was sent: the time of that change. Else: when it was sent, or shown.
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

/** The record of the CRM that something is of. */
export function recordOf({ level, order, staff }: Comparison, { records }: CustomerFacts): RecordFacts | undefined {
  if (level === "enterprise") return records.get("customers");
  if (staff !== undefined) return records.get(`staff ${formatKey(staff)}`);
  return order === undefined ? undefined : records.get(`orders ${formatKey(order)}`);
}
