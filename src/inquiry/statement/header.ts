import { programVersion } from "../../base/program-version.ts";
import type { AuditHeadFacts } from "../../report/facts.ts";
import { isOver } from "../../report/statement/period.ts";
import type { StatementHead, StatementHeader, StatementRequest, StatementShape } from "../../report/statement/shape.ts";
import { asOf, auditHead, ledgerName } from "../audit.ts";
import { requireStanding } from "../as-of/as-of.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { requireFilters } from "./filters.ts";

/** A head as a signed text; undefined where nothing signs it. */
export type SignHead = (head: AuditHeadFacts) => string | undefined;

/**
 * What a statement is made from. The connection stands as of the moment that is asked for, so the audit head is the one
 * of then. Throws a usage Problem for a filter that names what the ledger does not know.
 */
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
