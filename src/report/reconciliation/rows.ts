import { formatKey } from "../../crm/keys.ts";
import { levels, shownStill, shownTwice } from "./case.ts";
import type { Comparison, Difference, DriftClass, Finding, Level } from "./case.ts";

/**
 * What of the comparisons of a customer is otherwise than it was sent; what only the CRM changed since is not. What was
 * sent after `seenAt` was not looked for then.
 */
export function differencesOf(rows: readonly Comparison[], seenAt: string): Difference[] {
  return rows.flatMap((row) => {
    const found = classOf(row);
    if (found === undefined || (row.at ?? "") > seenAt) return [];
    const named = subjectOf(row);
    const subject = `${row.finding === undefined ? "" : (begins[row.finding] ?? "")}${named}`;
    return [{ level: row.level, subject, class: found, detail: row.details[0] ?? row.verdict, at: row.at }];
  });
}

/** What a difference is about, beside its level. */
export function subjectOf(row: Pick<Comparison, "order" | "item" | "assetNumber" | "staff">): string {
  const what = [
    row.order === undefined ? undefined : `of order ${formatKey(row.order)}`,
    row.item,
    row.assetNumber === undefined || row.assetNumber === null ? undefined : `under asset number ${row.assetNumber}`,
    row.staff === undefined ? undefined : `of ${formatKey(row.staff)}`,
  ];
  return what.filter((part) => part !== undefined).join(" ");
}

const classes = {
  "not-shown": "missing",
  differs: "different",
  "shown-twice": "extra",
  "shown-still": "extra",
} as const;

const begins: Partial<Record<Finding, string>> = { "shown-twice": shownTwice, "shown-still": shownStill };

/** Orders are told of by what is in them. */
function classOf({ level, verdict, finding, sent, inCrm }: Comparison): DriftClass | undefined {
  if (finding !== undefined) return classes[finding];
  if (level === "order") return undefined;
  if (verdict === "extra") return sent || inCrm ? undefined : "extra";
  if (verdict === "in-transit") return verdict;
  return sent && verdict === "not-observable" ? verdict : undefined;
}

/** How much of one kind of thing is as meant; `unsent`: how much of the rest was never sent. */
export type AgreementCount = {
  what: "enterprises" | "orders" | "products" | "packages" | "staff" | "assignments";
  matched: number;
  unsent: number;
  total: number;
};

const plural: Record<Level, AgreementCount["what"]> = {
  enterprise: "enterprises",
  order: "orders",
  product: "products",
  package: "packages",
  staff: "staff",
  assignment: "assignments",
};

/** Counts comparisons by their level; levels without any are left out. */
export class AgreementTally {
  readonly #counts = new Map<Level, Omit<AgreementCount, "what">>();

  add(row: Comparison): void {
    const count = this.#counts.get(row.level) ?? { matched: 0, unsent: 0, total: 0 };
    count.total += 1;
    if (row.verdict === "matched") count.matched += 1;
    else if (!row.sent) count.unsent += 1;
    this.#counts.set(row.level, count);
  }

  counts(): AgreementCount[] {
    return levels.flatMap((level) => {
      const count = this.#counts.get(level);
      return count === undefined ? [] : [{ what: plural[level], ...count }];
    });
  }
}
