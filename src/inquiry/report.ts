import type { ReportHeader, ReportRequest, ReportRow, ReportShape } from "../report/document.ts";
import { renderReport, requireFormat } from "../report/document.ts";
import { exceptionRow, exceptionsShape } from "../report/exceptions.ts";
import { orderRow, ordersShape } from "../report/orders.ts";
import {
  AgreementTally,
  compareCustomer,
  findingsOf,
  inPeriod,
  reconciliationRow,
  reconciliationShape,
} from "../report/reconciliation.ts";
import type { AgreementCount, FoundDifference } from "../report/reconciliation.ts";
import { exceptions } from "./exceptions.ts";
import { orderEvents } from "./orders.ts";
import { asOf, customerCases, reconciliationView } from "./reconciliation.ts";
import { auditHead } from "./audit.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

const shapes: Record<ReportRequest["kind"], ReportShape> = {
  orders: ordersShape,
  reconciliation: reconciliationShape,
  exceptions: exceptionsShape,
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
  const identity = await ledger.db.selectFrom("meta").select("value").where("key", "=", "ledger").executeTakeFirst();
  const head = await auditHead(ledger);
  const by = request.kind === "exceptions" ? "happened" : request.by;
  return { ...request, by, ledger: identity?.value ?? null, auditHead: head ?? null, asOf: await asOf(ledger) };
}

async function* rowsOf(ledger: ReadOnlyLedger, request: ReportRequest): AsyncGenerator<ReportRow, void, void> {
  const { period, by } = request;
  switch (request.kind) {
    case "orders":
      for await (const event of orderEvents(ledger, { from: period.from, to: period.to, by })) yield orderRow(event);
      return;
    case "reconciliation": {
      const view = await reconciliationView(ledger);
      for await (const item of customerCases(ledger)) {
        for (const row of compareCustomer(item, view)) {
          if (inPeriod(row, period, by)) yield reconciliationRow(item, row, view.asOf);
        }
      }
      return;
    }
    case "exceptions":
      for await (const facts of exceptions(ledger, period)) yield exceptionRow(facts);
      return;
  }
}

/** What was placed, added or given and is not shown, differs, or is shown twice, customer by customer. */
export async function* findings(ledger: ReadOnlyLedger): AsyncGenerator<FoundDifference, void, void> {
  const view = await reconciliationView(ledger);
  for await (const item of customerCases(ledger)) yield* findingsOf(item, view);
}

/** How much of each kind of thing is as meant, over everything there is. */
export async function agreement(ledger: ReadOnlyLedger): Promise<AgreementCount[]> {
  const tally = new AgreementTally();
  const view = await reconciliationView(ledger);
  for await (const item of customerCases(ledger)) {
    for (const row of compareCustomer(item, view)) tally.add(row);
  }
  return tally.counts();
}
