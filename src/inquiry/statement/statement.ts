import { programVersion } from "../../base/program-version.ts";
import { renderStatement } from "../../report/statement/render.ts";
import type { StatementFormat } from "../../report/statement/render.ts";
import type { StatementHeader, StatementRequest, StatementShape } from "../../report/statement/shape.ts";
import type { FileChunk } from "../../report/statement/writer.ts";
import { asOf, auditHead, ledgerName } from "../audit.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { statements } from "./statements.ts";
import type { StatementKind } from "./statements.ts";

/** A statement as the chunks of its files: the same ledger and request give the same bytes. */
export async function* statement(
  ledger: ReadOnlyLedger,
  kind: StatementKind,
  request: StatementRequest,
  format: StatementFormat,
  name: string,
): AsyncGenerator<FileChunk, void, void> {
  const { shape, rows } = statements[kind];
  yield* renderStatement(format, shape, await headerOf(ledger, shape, request), rows(ledger, request), name);
}

async function headerOf(
  ledger: ReadOnlyLedger,
  { kind, version, title }: StatementShape,
  { period, by, filters, asOf: asked }: StatementRequest,
): Promise<StatementHeader> {
  const newest = await auditHead(ledger);
  const at = asked ?? (await asOf(ledger));
  return {
    kind,
    version,
    title,
    period,
    by,
    filters,
    asOf: at,
    provisional: at === null || at < period.to,
    ledger: await ledgerName(ledger),
    auditHead:
      newest === undefined
        ? null
        : { sequence: newest.sequence, hash: newest.hash, size: newest.size, root: newest.root },
    program: programVersion(),
  };
}
