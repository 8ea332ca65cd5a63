import { renderReport, requireFormat } from "../report/document.ts";
import type { ReportHeader, ReportRequest, ReportRow, ReportShape } from "../report/document.ts";
import { exceptionRow, exceptionsShape } from "../report/exceptions.ts";
import { rebuildShape } from "../report/rebuild.ts";
import { orderRow, ordersShape } from "../report/orders.ts";
import { inPeriod, reconciliationRow, reconciliationShape } from "../report/reconciliation/rows.ts";
import { asOf, auditHead, ledgerName } from "./audit.ts";
import { exceptions } from "./exceptions.ts";
import { rebuilds } from "./rebuilds.ts";
import { orderEvents } from "./orders.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { comparisons } from "./reconciliation.ts";

const shapes: Record<ReportRequest["kind"], ReportShape> = {
  orders: ordersShape,
  reconciliation: reconciliationShape,
  exceptions: exceptionsShape,
  rebuild: rebuildShape,
};

/**
 * A report as chunks of text: the same ledger and request give the same bytes. Throws a Problem for a format that is
 * not built.
 */
export async function* report(
  ledger: ReadOnlyLedger,
  request: ReportRequest,
  format: string,
): AsyncGenerator<string, void, void> {
  yield* renderReport(
    requireFormat(format),
    shapes[request.kind],
    await headerOf(ledger, request),
    rowsOf(ledger, request),
  );
}

async function headerOf(ledger: ReadOnlyLedger, request: ReportRequest): Promise<ReportHeader> {
  const newest = await auditHead(ledger);
  const by = request.kind === "exceptions" || request.kind === "rebuild" ? "happened" : request.by;
  const head =
    newest === undefined
      ? null
      : { sequence: newest.sequence, hash: newest.hash, size: newest.size, root: newest.root };
  return { ...request, by, ledger: await ledgerName(ledger), auditHead: head, asOf: await asOf(ledger) };
}

async function* rowsOf(ledger: ReadOnlyLedger, request: ReportRequest): AsyncGenerator<ReportRow, void, void> {
  const { period, by } = request;
  switch (request.kind) {
    case "orders":
      for await (const event of orderEvents(ledger, { from: period.from, to: period.to, by })) yield orderRow(event);
      return;
    case "reconciliation":
      for await (const { item, rows, asOf: at } of comparisons(ledger))
        for (const row of rows) if (inPeriod(row, period, by)) yield reconciliationRow(item, row, at);
      return;
    case "exceptions":
      for await (const facts of exceptions(ledger, period)) yield exceptionRow(facts);
      return;
    case "rebuild":
      for (const { run, at, part, record, why } of rebuilds(ledger, period)) yield { run, at, part, record, why };
      return;
  }
}
