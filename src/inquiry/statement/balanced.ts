import { exitCodes, Problem } from "../../base/errors.ts";
import type { Row } from "../../report/statement/shape.ts";

/** Throws where the rows of a statement, added up as they came, do not make its summary. */
export function requireBalanced(kind: string, summary: readonly Row[], addedUp: readonly Row[]): void {
  if (textOf(summary) === textOf(addedUp)) return;
  throw new Problem({
    code: "statement.unbalanced",
    message: `the rows of the statement of ${kind} do not add up to its summary. Do not use this statement`,
    cure: "make the statement again. If the message comes again, tell the person who looks after crm-sync",
    exitCode: exitCodes.doesNotBalance,
  });
}

function textOf(rows: readonly Row[]): string {
  return JSON.stringify(rows, (_name, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
}
