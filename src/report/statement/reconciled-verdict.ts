import type { Money } from "../../crm/model.ts";
import type { Agreement, Comparison } from "../reconciliation/case.ts";
import { bothDates } from "../crm-date.ts";
import { isWithin } from "../reconciliation/tolerance.ts";
import type { FormProduct, OrderForm } from "./order-form.ts";
import type { OrderForms } from "./reconciled-case.ts";
import type { Tolerances } from "./shape.ts";

const worst: readonly Agreement[] = ["missing", "different", "extra", "in-transit", "not-observable", "matched"];

/** The verdict of what has parts with these verdicts. */
export function worstOf(verdicts: readonly Agreement[]): Agreement {
  return worst.find((verdict) => verdicts.includes(verdict)) ?? "matched";
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
