import type { ReportFormat, ReportHeader, ReportRequest, ReportRow, ReportShape } from "../report/document.ts";
import { renderReport } from "../report/document.ts";
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
import type { Reading } from "./reading.ts";

const shapes: Record<ReportRequest["kind"], ReportShape> = {
  orders: ordersShape,
  reconciliation: reconciliationShape,
  exceptions: exceptionsShape,
};

/** A report as chunks of text. The caller keeps the ledger at one state meanwhile. */
export async function* reportChunks(
  reading: Reading,
  request: ReportRequest,
  format: ReportFormat,
): AsyncGenerator<string, void, void> {
  yield* renderReport(format, shapes[request.kind], await headerOf(reading, request), rowsOf(reading, request));
}

async function headerOf(reading: Reading, request: ReportRequest): Promise<ReportHeader> {
  const identity = await reading.db.selectFrom("meta").select("value").where("key", "=", "ledger").executeTakeFirst();
  const head = await reading.db
    .selectFrom("audit")
    .select(["sequence", "hash"])
    .orderBy("sequence", "desc")
    .limit(1)
    .executeTakeFirst();
  const by = request.kind === "exceptions" ? "happened" : request.by;
  return { ...request, by, ledger: identity?.value ?? null, auditHead: head ?? null, asOf: await asOf(reading) };
}

async function* rowsOf(reading: Reading, request: ReportRequest): AsyncGenerator<ReportRow, void, void> {
  const { period, by } = request;
  switch (request.kind) {
    case "orders":
      for await (const event of orderEvents(reading, { from: period.from, to: period.to, by })) yield orderRow(event);
      return;
    case "reconciliation": {
      const view = await reconciliationView(reading);
      for await (const item of customerCases(reading)) {
        for (const row of compareCustomer(item, view)) {
          if (inPeriod(row, period, by)) yield reconciliationRow(item, row, view.asOf);
        }
      }
      return;
    }
    case "exceptions":
      for await (const facts of exceptions(reading, period)) yield exceptionRow(facts);
      return;
  }
}

/** What was placed, added or given and is not shown, differs, or is shown twice, customer by customer. */
export async function* findings(reading: Reading): AsyncGenerator<FoundDifference, void, void> {
  const view = await reconciliationView(reading);
  for await (const item of customerCases(reading)) yield* findingsOf(item, view);
}

/** How much of each kind of thing is as meant, over everything there is. */
export async function agreement(reading: Reading): Promise<AgreementCount[]> {
  const tally = new AgreementTally();
  const view = await reconciliationView(reading);
  for await (const item of customerCases(reading)) {
    for (const row of compareCustomer(item, view)) tally.add(row);
  }
  return tally.counts();
}
