import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { Row } from "../tables.ts";

/** What was once seen of the platform as such, and holds for every enterprise. Writes run inside the transaction. */
export class PlatformFactTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
      correlation: () =>
        database.prepare<[string], Row<"confirmed_correlation", "confirmed_at">>(
          "select confirmed_at from confirmed_correlation where correlation = +?",
        ),
      confirm: () =>
        database.prepare(
          "insert into confirmed_correlation (correlation, confirmed_at) values (?, ?) on conflict do nothing",
        ),
      licenceType: () =>
        database.prepare<[string], Row<"shown_licence_type", "shown_at">>(
          "select shown_at from shown_licence_type where shown_by = 'asset' and license_type = +?",
        ),
    });
  }

  isCorrelationConfirmed(correlation: string): boolean {
    return this.#statements.correlation.get(correlation) !== undefined;
  }

  confirmCorrelation(correlation: string, at: string): void {
    this.#statements.confirm.run(correlation, at);
  }

  isLicenceTypeShown(type: string): boolean {
    return this.#statements.licenceType.get(type) !== undefined;
  }
}
