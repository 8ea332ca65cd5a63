import { correctionsStatement } from "../../report/statement/corrections.ts";
import { entitlementsStatement } from "../../report/statement/entitlements.ts";
import { exceptionsStatement } from "../../report/statement/exceptions.ts";
import { ordersStatement } from "../../report/statement/orders.ts";
import { reconciliationStatement } from "../../report/statement/reconciliation.ts";
import { runStatement } from "../../report/statement/run.ts";
import type { Filters, PartRow, StatementRequest, StatementShape } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { correctionRows } from "./corrections.ts";
import { entitlementsRows } from "./entitlements.ts";
import { exceptionRows } from "./exceptions.ts";
import { ordersRows } from "./orders.ts";
import { reconciliationRows } from "./reconciliation.ts";
import { runRows } from "./run.ts";

/** A kind of statement: what it is made of, and its rows from the ledger, part by part, in bounded memory. */
export interface Statement {
  shape: StatementShape;
  rows(ledger: ReadOnlyLedger, request: StatementRequest): AsyncIterable<PartRow> | Iterable<PartRow>;
  /** What it can be limited to; left out: everything. */
  filters?: readonly (keyof Filters)[];
  /** It counts by what happened alone: no date of the CRM puts a row into a period. */
  happenedOnly?: true;
}

/** Every statement there is, by its kind. */
export const statements = {
  orders: { shape: ordersStatement, rows: ordersRows },
  entitlements: { shape: entitlementsStatement, rows: entitlementsRows },
  reconciliation: { shape: reconciliationStatement, rows: reconciliationRows },
  corrections: { shape: correctionsStatement, rows: correctionRows },
  exceptions: { shape: exceptionsStatement, rows: exceptionRows, happenedOnly: true },
  run: { shape: runStatement, rows: runRows, filters: ["source"], happenedOnly: true },
} satisfies Record<string, Statement>;

export type StatementKind = keyof typeof statements;
