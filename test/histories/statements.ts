import { openReadOnly } from "../../src/ledger/database/database.ts";
import { ReadOnlyLedger } from "../../src/inquiry/read-only-ledger.ts";
import { entitlementsRows } from "../../src/inquiry/statement/entitlements.ts";
import { ordersRows } from "../../src/inquiry/statement/orders.ts";
import type { StatementRequest } from "../../src/report/statement/shape.ts";
import { rowsOf } from "../support/world/start.ts";

/**
 * What is wrong in the statements of a ledger over two times that make up its whole life: entitlements that are not
 * what stands, and lines of orders that do not come to what the ledger counted meanwhile.
 */
export function wrongStatements(path: string): string[] {
  const times = rowsOf<{ at: string }>(
    path,
    "select from_at as at from placed_order union select at from order_step union select from_at from assignment",
  );
  const middle = times[Math.floor(times.length / 2)]?.at ?? "2026-01-01T00:00:00.000Z";
  const ledger = new ReadOnlyLedger(path, openReadOnly(path));
  try {
    const wrong: string[] = [];
    let units = 0;
    for (const [from, to] of [
      ["2000-01-01T00:00:00.000Z", middle],
      [middle, "2100-01-01T00:00:00.000Z"],
    ] as const) {
      const request: StatementRequest = { period: { label: to, zone: "UTC", from, to }, by: "happened", filters: {} };
      for (const { part, row } of entitlementsRows(ledger, request))
        if (part === "check" && row["verdict"] !== "agrees") wrong.push(`entitlements differ: ${JSON.stringify(row)}`);
      for (const { part, row } of ordersRows(ledger, request)) if (part === "lines") units += Number(row["units"] ?? 0);
    }
    const [counted] = rowsOf<{ products: number }>(
      path,
      "select coalesce(sum(products), 0) as products from placed_order where to_at is null",
    );
    if (units !== counted?.products)
      wrong.push(`the lines of orders come to ${units} units, and the ledger counted ${counted?.products ?? 0}`);
    return wrong;
  } finally {
    ledger.close();
  }
}
