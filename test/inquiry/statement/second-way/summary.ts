import type { Computed } from "./whole.ts";

const sides = ["crm", "sent", "observed"] as const;
const isThere = { crm: "in_crm", sent: "sent", observed: "shown" } as const;
const pairs = [
  ["crm", "sent"],
  ["sent", "observed"],
] as const;
const measures = ["count", "units", "nodes", "seats", "amount"] as const;

/** The totals of a reconciliation from its items: by level, verdict and currency; what has no money has none. */
export function reconciledSummary(items: readonly Computed[]): Computed[] {
  const currency = (item: Computed): unknown => item["crm_amount_currency"] ?? item["sent_amount_currency"] ?? null;
  const groups = Map.groupBy(items, (item) => JSON.stringify([item["level"], item["verdict"], currency(item)]));
  return [...groups.values()].map((own) => {
    const sumOf = (side: (typeof sides)[number], what: (typeof measures)[number]): bigint | null => {
      if (what === "count") return BigInt(own.filter((item) => item[isThere[side]] === true).length);
      const cells = own.flatMap((item) => {
        const cell = item[`${side}_${what}`];
        return typeof cell === "bigint" || typeof cell === "number" ? [BigInt(cell)] : [];
      });
      return cells.length === 0 ? null : cells.reduce((sum, cell) => sum + cell, 0n);
    };
    const cells = measures.flatMap((what) => {
      const sums = { crm: sumOf("crm", what), sent: sumOf("sent", what), observed: sumOf("observed", what) };
      const isAny = sides.some((side) => sums[side] !== null);
      return [
        ...sides.map((side) => [`${side}_${what}`, sums[side]] as const),
        ...pairs.map(
          ([one, other]) =>
            [`${what}_${one}_less_${other}`, isAny ? (sums[one] ?? 0n) - (sums[other] ?? 0n) : null] as const,
        ),
      ];
    });
    const [first] = own;
    const of = first === undefined ? null : currency(first);
    return {
      level: first?.["level"],
      verdict: first?.["verdict"],
      currency: typeof of === "string" ? of : null,
      count: own.length,
      ...Object.fromEntries(cells),
    };
  });
}
