import type { Money } from "../../crm/model.ts";
import type { Agreement } from "../reconciliation/case.ts";
import { isWithin } from "../reconciliation/tolerance.ts";
import type { FormProduct } from "./order-form.ts";
import type { Tolerances } from "./shape.ts";

const worst: readonly Agreement[] = ["missing", "different", "extra", "in-transit", "not-observable", "matched"];

/** The verdict of what has parts with these verdicts. */
export function worstOf(verdicts: readonly Agreement[]): Agreement {
  return worst.find((verdict) => verdicts.includes(verdict)) ?? "matched";
}

/** Whether the CRM has the amount that something was sent with. `slack`: minor units that come from dividing it. */
export function amountsOf(
  crm: Money | undefined,
  sent: Money | undefined,
  { money = {} }: Tolerances,
  slack = 0,
): "equal" | "tolerated" | "different" {
  if (crm === undefined && sent === undefined) return "equal";
  if (crm === undefined || crm.currency !== sent?.currency) return "different";
  const apart = Math.abs(crm.minor - sent.minor);
  if (apart <= slack) return "equal";
  return apart <= (money[crm.currency] ?? 0) ? "tolerated" : "different";
}

/** What the CRM has otherwise now than it was when the product was sent. */
export function changesOf(sent: FormProduct, crm: FormProduct, { seconds }: Tolerances): string[] {
  const names = ["nodes", "term", "limitStart", "limitEnd", "trialEnd"] as const;
  return names
    .filter((name) => sent[name] !== crm[name] && !isWithin(name, sent[name], crm[name], seconds))
    .map((name) => `CRM ${name}: sent with ${sent[name] ?? "nothing"}, now ${crm[name] ?? "nothing"}`);
}
