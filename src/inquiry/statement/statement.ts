import { entitlementsStatement } from "../../report/statement/entitlements.ts";
import { exceptionsStatement } from "../../report/statement/exceptions.ts";
import { ordersStatement } from "../../report/statement/orders.ts";
import { reconciliationStatement } from "../../report/statement/reconciliation.ts";
import { runStatement, runRows } from "./run.ts";
import type {
  Filters,
  PartRow,
  StatementRequest,
  StatementShape,
  StatementHead,
  StatementHeader,
} from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { entitlementsRows } from "./entitlements.ts";
import { exceptionRows } from "./exceptions.ts";
import { ordersRows } from "./orders.ts";
import { reconciliationRows } from "./reconciliation.ts";
import { usage } from "../../base/errors.ts";
import { renderStatement, type StatementFormat } from "../../report/statement/render.ts";
import type { FileChunk } from "../../report/statement/writer.ts";
import { programVersion } from "../../base/program-version.ts";
import type { AuditHeadFacts } from "../../report/facts.ts";
import { isOver } from "../../report/statement/period.ts";
import { asOf, auditHead, ledgerName } from "../audit.ts";
import { requireStanding } from "../as-of/as-of.ts";
import { requireFilters } from "./filters.ts";

export interface Statement {
  shape: StatementShape;
  rows(ledger: ReadOnlyLedger, request: StatementRequest): AsyncIterable<PartRow> | Iterable<PartRow>;
  filters?: readonly (keyof Filters)[];
  /** No CRM date puts a row into a period. */
  happenedOnly?: true;
}

export const statements = {
  orders: { shape: ordersStatement, rows: ordersRows },
  entitlements: { shape: entitlementsStatement, rows: entitlementsRows },
  reconciliation: { shape: reconciliationStatement, rows: reconciliationRows },
  exceptions: { shape: exceptionsStatement, rows: exceptionRows, happenedOnly: true },
  run: { shape: runStatement, rows: runRows, filters: ["source"], happenedOnly: true },
} satisfies Record<string, Statement>;

export type StatementKind = keyof typeof statements;

/**
 * The same ledger and request give the same bytes. `name`: the file name without a folder; `sign` signs the printed
 * audit head. Throws a usage Problem for an unsupported filter.
 */
export async function* statement(
  ledger: ReadOnlyLedger,
  kind: StatementKind,
  request: StatementRequest,
  format: StatementFormat,
  sign?: SignHead,
): AsyncGenerator<FileChunk, void, void> {
  const made: Statement = statements[kind];
  if (made.filters !== undefined) requireUseful(kind, request.filters, made.filters);
  const asked: StatementRequest = made.happenedOnly ? { ...request, by: "happened" } : request;
  const header = await statementHeader(ledger, made.shape, asked, sign);
  yield* renderStatement(format, made.shape, header, made.rows(ledger, asked));
}

const all = ["source", "customer", "branch", "product"] as const satisfies readonly (keyof Filters)[];

function requireUseful(kind: string, given: Filters, useful: readonly (keyof Filters)[]): void {
  const useless = all.find((name) => given[name] !== undefined && !useful.includes(name));
  if (useless === undefined) return;
  throw usage(
    `the statement ${kind} cannot be limited to a ${useless}`,
    `leave --${useless} out; it can be limited by ${useful.map((one) => `--${one}`).join(", ")}`,
  );
}

export type SignHead = (head: AuditHeadFacts) => string | undefined;

/** With `asOf`, the audit head of that moment. Throws a usage Problem for an unknown filter value. */
export async function statementHeader(
  ledger: ReadOnlyLedger,
  { kind, version, title, tolerates }: Pick<StatementShape, "kind" | "version" | "title" | "tolerates">,
  request: StatementRequest,
  sign?: SignHead,
): Promise<StatementHeader> {
  requireStanding(ledger, request.asOf);
  requireFilters(ledger, request.filters);
  const { period, by, filters } = request;
  const at = request.asOf ?? (await asOf(ledger));
  const head = await auditHead(ledger);
  return {
    kind,
    version,
    title,
    period,
    by,
    filters,
    asOf: at,
    provisional: at === null || !isOver(period, at),
    ledger: await ledgerName(ledger),
    auditHead: head === undefined ? null : printedHead(head, sign),
    ...(tolerates === true && { tolerances: request.tolerances ?? {} }),
    program: programVersion(),
  };
}

function printedHead(head: AuditHeadFacts, sign: SignHead | undefined): StatementHead {
  const { sequence, at, hash, size, root } = head;
  return { sequence, at, hash, size, root, checkpoint: sign?.(head) };
}
