import { usage } from "../../base/errors.ts";
import { renderStatement } from "../../report/statement/render.ts";
import type { StatementFormat } from "../../report/statement/render.ts";
import type { Filters, StatementRequest } from "../../report/statement/shape.ts";
import type { FileChunk } from "../../report/statement/writer.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { statementHeader } from "./header.ts";
import type { SignHead } from "./header.ts";
import { forgetProofs } from "./proof.ts";
import { statements } from "./statements.ts";
import type { Statement, StatementKind } from "./statements.ts";

/**
 * A statement as the chunks of its files: the same ledger and request give the same bytes. `name` is the name of the
 * file without a folder; `sign` signs the head of the audit log that is printed on it. Throws a usage Problem where
 * it cannot be limited to what is asked for.
 */
export async function* statement(
  ledger: ReadOnlyLedger,
  kind: StatementKind,
  request: StatementRequest,
  format: StatementFormat,
  name: string,
  sign?: SignHead,
): AsyncGenerator<FileChunk, void, void> {
  const made: Statement = statements[kind];
  if (made.filters !== undefined) requireUseful(kind, request.filters, made.filters);
  const asked: StatementRequest = made.happenedOnly ? { ...request, by: "happened" } : request;
  forgetProofs(ledger);
  const header = await statementHeader(ledger, made.shape, asked, sign);
  yield* renderStatement(format, made.shape, header, made.rows(ledger, asked), name);
}

const all = ["source", "customer", "branch", "product"] as const satisfies readonly (keyof Filters)[];

function requireUseful(kind: string, given: Filters, useful: readonly (keyof Filters)[]): void {
  const useless = all.find((name) => given[name] !== undefined && !useful.includes(name));
  if (useless === undefined) return;
  throw usage(
    `the statement ${kind} cannot be limited to a ${useless}`,
    useful.length === 0
      ? `leave --${useless} out`
      : `leave --${useless} out; it can be limited by ${useful.map((one) => `--${one}`).join(", ")}`,
  );
}
