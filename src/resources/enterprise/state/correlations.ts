import type { Sqlite } from "../../../ledger/database/database.ts";
import { statements } from "../../../ledger/database/statements.ts";
import { table } from "../../../ledger/database/table.ts";

declare module "../../../engine/model/resource.ts" {
  interface ResourceTables {
    confirmed_correlation: ConfirmedCorrelationTable;
  }
}

export interface ConfirmedCorrelationTable {
  correlation: string;
  confirmed_at: string;
}

export const correlationTables = { confirmed_correlation: table<ConfirmedCorrelationTable>() };

/** The templates of channel customer numbers under which E3 has shown an enterprise that an accepted E2 made (A8). */
export class CorrelationRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  isConfirmed(correlation: string): boolean {
    return this.#statements.confirmed.get(correlation) !== undefined;
  }

  confirm(correlation: string, at: string): void {
    this.#statements.confirm.run(correlation, at);
  }
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    confirmed: () =>
      database.prepare<[string], Pick<ConfirmedCorrelationTable, "confirmed_at">>(
        "select confirmed_at from confirmed_correlation where correlation = +?",
      ),
    confirm: () =>
      database.prepare(
        "insert into confirmed_correlation (correlation, confirmed_at) values (?, ?) on conflict do nothing",
      ),
  });
}
