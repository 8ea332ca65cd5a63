import type { CrmBooks, ShownNumber, ToldRun } from "./crm-books.ts";
import { branchOf } from "./lines.ts";
import type { Computed } from "./whole.ts";

/** What the reconciliation stands on: the last rows, the last look at the platform, and the one before hands. */
export interface Stand {
  books: CrmBooks;
  last: ToldRun;
  look: ToldRun;
  before: ToldRun;
  /** Comparisons with the platform since then, the oldest first. */
  looks: readonly ToldRun[];
  /** What was sent since then and is not shown counts as on its way. */
  transitFrom: string;
}

/** Hours, and the class of finance that they fall into. */
export function aged(since: string | null, until: string): { hours: number | null; ageing: string | null } {
  if (since === null) return { hours: null, ageing: null };
  const hours = Math.floor((Date.parse(until) - Date.parse(since)) / 3_600_000);
  const classes = [
    [24, "0-1 d"],
    [7 * 24, "1-7 d"],
    [30 * 24, "7-30 d"],
    [90 * 24, "30-90 d"],
  ] as const;
  return { hours, ageing: classes.find(([end]) => hours < end)?.[1] ?? "older" };
}

/** A row in which nothing is said yet, for a customer. */
export function blank({ last, look }: Stand, customer: string): Computed {
  const figures = ["crm", "sent", "observed"].flatMap((side) =>
    ["units", "nodes", "seats", "term", "term_end"].map((name) => [`${side}_${name}`, null]),
  );
  const enterprise = look.shown.find((one) => one.customer === customer)?.enterprise ?? null;
  return {
    ...Object.fromEntries(figures),
    customer: `crm/${customer}`,
    branch: branchOf(last, customer),
    source: "crm",
    enterprise_global_id: enterprise,
    crm_order: null,
    crm_date: null,
    channel_order_id: null,
    license_order_id: null,
    license_type: null,
    asset_number: null,
    item: null,
    product: null,
    product_number: null,
    staff: null,
    member_global_id: null,
    crm_amount: null,
    crm_amount_currency: null,
    sent_amount: null,
    sent_amount_currency: null,
    observed_amount: null,
    amount_difference: null,
    amount_difference_currency: null,
    within_tolerance: null,
    details: [],
    sent_at: null,
    seen_at: look.at,
    age_hours: aged(look.at, last.at).hours,
    open_since: null,
    open_hours: null,
    ageing: null,
  };
}

export const opened = (since: string | null, { last }: Stand): Computed => {
  const { hours, ageing } = aged(since, last.at);
  return { open_since: since, open_hours: hours, ageing };
};

/** What the platform shows of a product under a number. */
export function shownCells(shown: ShownNumber["products"][number]): Computed {
  const end = Number(shown["limitEndTime"]);
  return {
    observed_units: 1,
    observed_nodes: shown.limitConcurrent,
    observed_term: String(shown["timeDurationExpression"]),
    observed_term_end: end === 0 ? null : new Date(end).toISOString(),
  };
}
