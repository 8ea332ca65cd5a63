import { branchOf } from "./lines.ts";
import type { ToldRun } from "./crm-books.ts";
import type { Computed } from "./whole.ts";

const measures = ["units", "nodes", "seats"] as const;
const figures = ["opening", "granted", "revoked", "adjusted", "closing"] as const;

/** What one product under one number is worth, and whose it is, after a run. */
interface Standing {
  of: Record<(typeof keys)["entitlements"][number], string | null>;
  units: number;
  nodes: number;
  seats: number;
}

const productKey = ["license_type", "gms_pid", "app_key", "product"] as const;
const keys = {
  entitlements: ["customer", ...productKey, "branch"],
  by_product: productKey,
  by_customer: ["customer"],
  by_branch: ["branch"],
} as const;
export const entitlementParts = ["entitlements", "by_product", "by_customer", "by_branch"] as const;

/** Everything that stands on the platform after a run, by number, product and purchase. */
function standingAfter(run: ToldRun | undefined): Map<string, Standing> {
  const standing = new Map<string, Standing>();
  if (run === undefined) return standing;
  for (const { number, customer, holder, products } of run.shown)
    for (const one of products) {
      const text = (name: string): string | null => (one[name] === "" ? null : String(one[name]));
      standing.set([number, one.crmProductId, one.channelOrderId].join(" "), {
        of: {
          customer: `crm/${customer}`,
          license_type: one.licenseType,
          gms_pid: text("gmsPid"),
          app_key: text("appKey"),
          product: text("productName"),
          branch: branchOf(run, customer),
        },
        units: 1,
        nodes: one.limitConcurrent,
        seats: holder === null ? 0 : 1,
      });
    }
  return standing;
}

/**
 * Opening, granted, revoked, adjusted and closing of a month, run by run: what is more than after the run before was
 * granted, what is less was revoked, and what stands for another branch than before went there as an adjustment.
 */
export function entitlementsOf(
  told: readonly ToldRun[],
  month: string,
): Record<(typeof entitlementParts)[number], Computed[]> {
  const sums = Object.fromEntries(entitlementParts.map((part) => [part, new Map<string, Record<string, number>>()]));
  const rowsBy = new Map<string, Computed>();
  const add = (of: Standing["of"], name: string, by: number): void => {
    for (const part of entitlementParts) {
      const key = Object.fromEntries(keys[part].map((column) => [column, of[column]]));
      const id = `${part} ${JSON.stringify(key)}`;
      rowsBy.set(id, key);
      const sum = sums[part]?.get(id) ?? {};
      sum[name] = (sum[name] ?? 0) + by;
      sums[part]?.set(id, sum);
    }
  };
  const during = told.filter(({ at }) => at.startsWith(month));
  const before = told.filter(({ at }) => at < month);
  const tellAll = (standing: Map<string, Standing>, figure: string): void => {
    for (const one of standing.values()) for (const what of measures) add(one.of, `${what}_${figure}`, one[what]);
  };
  let last = standingAfter(before.at(-1));
  tellAll(last, "opening");
  for (const run of during) {
    const now = standingAfter(run);
    for (const id of new Set([...last.keys(), ...now.keys()])) moved(last.get(id), now.get(id), add);
    last = now;
  }
  tellAll(last, "closing");
  const rows = (part: (typeof entitlementParts)[number]): Computed[] =>
    [...(sums[part] ?? [])].map(([id, sum]) => ({
      ...rowsBy.get(id),
      ...Object.fromEntries(
        measures.flatMap((what) => figures.map((name) => [`${what}_${name}`, sum[`${what}_${name}`] ?? 0])),
      ),
      verdict: "agrees",
    }));
  return {
    entitlements: rows("entitlements"),
    by_product: rows("by_product"),
    by_customer: rows("by_customer"),
    by_branch: rows("by_branch"),
  };
}

function moved(
  was: Standing | undefined,
  is: Standing | undefined,
  add: (of: Standing["of"], name: string, by: number) => void,
): void {
  for (const what of measures) {
    const by = (is?.[what] ?? 0) - (was?.[what] ?? 0);
    const of = is?.of ?? was?.of;
    if (of !== undefined && by > 0) add(of, `${what}_granted`, by);
    if (of !== undefined && by < 0) add(of, `${what}_revoked`, -by);
    if (was === undefined || is === undefined || was.of.branch === is.of.branch) continue;
    add(was.of, `${what}_adjusted`, -was[what]);
    add(is.of, `${what}_adjusted`, was[what]);
  }
}

/** The sums at both ends of a month, each of which is told twice. */
export function checkOf(rows: readonly Computed[]): Computed[] {
  return (["opening", "closing"] as const).flatMap((moment) =>
    measures.map((measure) => {
      const sum = rows.reduce((total, row) => total + Number(row[`${measure}_${moment}`]), 0);
      const empty = { customer: null, license_type: null, gms_pid: null, app_key: null, product: null, branch: null };
      return { moment, measure, ...empty, events: sum, standing: sum, verdict: "agrees" };
    }),
  );
}
