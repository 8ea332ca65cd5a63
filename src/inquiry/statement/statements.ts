import { coverStatement } from "../../report/statement/cover.ts";
import { bridgeStatement } from "../../report/statement/bridge.ts";
import { entitlementsStatement } from "../../report/statement/entitlements.ts";
import { ordersStatement } from "../../report/statement/orders.ts";
import { rebuildRow, rebuildStatement } from "../../report/statement/rebuild.ts";
import { correctionsStatement } from "../../report/statement/corrections.ts";
import { exceptionsStatement } from "../../report/statement/exceptions.ts";
import { reconciliationStatement } from "../../report/statement/reconciliation.ts";
import type { PartRow, StatementRequest, StatementShape } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { rebuilds } from "../rebuilds.ts";
import { coverRows } from "./cover.ts";
import { bridgeRows } from "./bridge.ts";
import { entitlementsRows } from "./entitlements.ts";
import { ordersRows } from "./orders.ts";
import { correctionRows } from "./corrections.ts";
import { exceptionRows } from "./exceptions.ts";
import { reconciliationRows } from "./reconciliation.ts";

/** A kind of statement: what it is made of, and its rows from the ledger, part by part, in bounded memory. */
export interface Statement {
  shape: StatementShape;
  rows(ledger: ReadOnlyLedger, request: StatementRequest): AsyncIterable<PartRow> | Iterable<PartRow>;
}

/** Every statement there is, by its kind. */
export const statements = {
  entitlements: { shape: entitlementsStatement, rows: entitlementsRows },
  orders: { shape: ordersStatement, rows: ordersRows },
  corrections: { shape: correctionsStatement, rows: correctionRows },
  exceptions: { shape: exceptionsStatement, rows: exceptionRows },
  reconciliation: { shape: reconciliationStatement, rows: reconciliationRows },
  cover: { shape: coverStatement, rows: coverRows },
  bridge: { shape: bridgeStatement, rows: bridgeRows },
  rebuild: { shape: rebuildStatement, rows: rebuildRows },
} satisfies Record<string, Statement>;

export type StatementKind = keyof typeof statements;

function* rebuildRows(ledger: ReadOnlyLedger, { period }: StatementRequest): Generator<PartRow, void, void> {
  for (const part of rebuilds(ledger, period)) yield rebuildRow(part);
}
