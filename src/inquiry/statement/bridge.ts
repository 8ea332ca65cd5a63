import { BridgeSums } from "../../report/statement/bridge.ts";
import { sidesOf } from "../../report/statement/period.ts";
import type { PartRow, StatementRequest } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { orderLines, wordsOf } from "./orders.ts";

/**
 * The bridge from what happened in a period to what the CRM dates in it. The lines go through, and only sums are held.
 */
export function* bridgeRows(ledger: ReadOnlyLedger, request: StatementRequest): Generator<PartRow, void, void> {
  const { period } = request;
  const words = wordsOf(ledger, request);
  const sideOf = sidesOf(period);
  const sums = new BridgeSums();
  for (const { row, dated } of orderLines(ledger, { ...request, by: "happened" }, words)) {
    sums.add("happened in the period", row, 1);
    const side = dated === null ? 0 : sideOf(dated);
    if (side < 0) sums.add("less: dated before it by the CRM", row, -1);
    if (side > 0) sums.add("less: dated after it by the CRM", row, -1);
  }
  for (const { row, at } of orderLines(ledger, { ...request, by: "crm-date" }, words)) {
    sums.add("by the dates of the CRM", row, 1);
    const side = sideOf({ at, zone: undefined });
    if (side < 0) sums.add("more: dated in it, happened before it", row, 1);
    if (side > 0) sums.add("more: dated in it, happened after it", row, 1);
  }
  for (const row of sums.rows()) yield { part: "bridge", row };
}
