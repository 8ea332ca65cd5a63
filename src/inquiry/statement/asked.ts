import type { Statement } from "better-sqlite3";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";

type Question<Parameters, Row> = (ledger: ReadOnlyLedger, parameters: Parameters) => Row[];

/**
 * A question with named parameters that a statement asks for one record after another: it is prepared once for a
 * ledger.
 */
export function asked<Parameters extends object, Row>(text: string): Question<Parameters, Row> {
  const known = new WeakMap<ReadOnlyLedger, Statement<[Parameters], Row>>();
  // The sign before a value keeps SQLite from planning the statement anew for each value.
  const planned = text.replaceAll(/@(?=[a-z])/gu, "+@");
  return (ledger, parameters) => {
    let statement = known.get(ledger);
    if (statement === undefined) {
      statement = ledger.reading((database) => database.prepare<[Parameters], Row>(planned));
      known.set(ledger, statement);
    }
    return statement.all(parameters);
  };
}
