import type { Row } from "../../../src/report/statement/shape.ts";

const sides = ["crm", "sent", "observed"] as const;

/**
 * The summary of a reconciliation computed a second way, from its items: for each level, verdict and currency the sums
 * of each side as text, `EUR crm 594, sent 594, observed 594`.
 */
export function summaryFrom(items: readonly Row[]): Map<string, number> {
  const sums = new Map<string, number>();
  const plus = (name: string, value: unknown): void => {
    if (typeof value === "number") sums.set(name, (sums.get(name) ?? 0) + value);
  };
  for (const item of items) {
    const of = `${String(item["level"])} ${String(item["verdict"])}`;
    plus(`${of} count`, 1);
    for (const side of sides) {
      plus(
        `${of} ${side}_count`,
        item[side === "crm" ? "in_crm" : side === "sent" ? "sent" : "shown"] === true ? 1 : 0,
      );
      for (const what of ["units", "nodes", "seats"]) plus(`${of} ${side}_${what}`, item[`${side}_${what}`]);
      const currency = item[side === "crm" ? "crm_amount_currency" : "sent_amount_currency"];
      plus(`${of} ${side}_amount ${String(currency)}`, item[`${side}_amount`]);
    }
  }
  return sums;
}

/** The same numbers as the summary itself has them. */
export function summaryOf(summary: readonly Row[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const row of summary) {
    const of = `${String(row["level"])} ${String(row["verdict"])}`;
    const plus = (name: string, value: unknown): void => {
      if (typeof value === "number") sums.set(name, (sums.get(name) ?? 0) + value);
    };
    plus(`${of} count`, row["count"]);
    for (const side of sides) {
      for (const what of ["count", "units", "nodes", "seats"]) plus(`${of} ${side}_${what}`, row[`${side}_${what}`]);
      plus(`${of} ${side}_amount ${String(row["currency"])}`, row[`${side}_amount`]);
    }
  }
  return sums;
}
