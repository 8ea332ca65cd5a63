import { activityStatement } from "../../report/statement/activity.ts";
import { bridgeStatement } from "../../report/statement/bridge.ts";
import { correctionsStatement } from "../../report/statement/corrections.ts";
import { coverStatement } from "../../report/statement/cover.ts";
import { entitlementsStatement } from "../../report/statement/entitlements.ts";
import { exceptionsStatement } from "../../report/statement/exceptions.ts";
import { ordersStatement } from "../../report/statement/orders.ts";
import { rebuildRow, rebuildStatement } from "../../report/statement/rebuild.ts";
import { reconciliationStatement } from "../../report/statement/reconciliation.ts";
import { runStatement } from "../../report/statement/run.ts";
import type { Filters, PartRow, StatementRequest, StatementShape } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { rebuilds } from "../rebuilds.ts";
import { activityRows } from "./activity.ts";
import { bridgeRows } from "./bridge.ts";
import { correctionRows } from "./corrections.ts";
import { coverRows } from "./cover.ts";
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
  activity: { shape: activityStatement, rows: activityRows, filters: ["customer"], happenedOnly: true },
  run: { shape: runStatement, rows: runRows, filters: ["source"], happenedOnly: true },
  bridge: { shape: bridgeStatement, rows: bridgeRows, happenedOnly: true },
  cover: { shape: coverStatement, rows: coverRows, filters: ["source", "customer", "branch"], happenedOnly: true },
  rebuild: { shape: rebuildStatement, rows: rebuildRows, filters: [], happenedOnly: true },
} satisfies Record<string, Statement>;

export type StatementKind = keyof typeof statements;

function* rebuildRows(ledger: ReadOnlyLedger, { period }: StatementRequest): Generator<PartRow, void, void> {
  for (const part of rebuilds(ledger, period)) yield rebuildRow(part);
}
