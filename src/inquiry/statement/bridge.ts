import { BridgeSums } from "../../report/statement/bridge.ts";
import type { PartRow, Row, StatementRequest } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { lineRows, wordsOf } from "./orders.ts";

/**
 * The bridge from what happened in a period to what the CRM dates in it. The lines go through, and only sums are held.
 */
export function* bridgeRows(ledger: ReadOnlyLedger, request: StatementRequest): Generator<PartRow, void, void> {
  const { period } = request;
  const words = wordsOf(ledger, request);
  const [first, after] = [words.dates(period.from) ?? "", words.dates(period.to) ?? ""];
  const sums = new BridgeSums();
  for (const line of lineRows(ledger, { ...request, by: "happened" }, words)) {
    sums.add("happened in the period", line, 1);
    const dated = dateOf(line);
    if (dated < first) sums.add("less: dated before it by the CRM", line, -1);
    if (dated >= after) sums.add("less: dated after it by the CRM", line, -1);
  }
  for (const line of lineRows(ledger, { ...request, by: "crm-date" }, words)) {
    sums.add("by the dates of the CRM", line, 1);
    const happened = String(line["date"]);
    if (happened < first) sums.add("more: dated in it, happened before it", line, 1);
    if (happened >= after) sums.add("more: dated in it, happened after it", line, 1);
  }
  for (const row of sums.rows()) yield { part: "bridge", row };
}

/** The local date by which a line is counted where orders are counted by the CRM's dates. */
function dateOf({ event, date, crm_date: dated }: Row): string {
  const isPlacing = event === "placed" || event === "adopted";
  return String(isPlacing && typeof dated === "string" ? dated : date);
}
