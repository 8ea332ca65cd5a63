import type { RecordKey } from "../../crm/model.ts";
import type { LockWish, StateChange } from "../../operation/state.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { Row } from "../tables.ts";

type WishRow = Row<
  "lock_wish",
  | "asset_number"
  | "wanted"
  | "license_type"
  | "large_customer"
  | "asked_by"
  | "reason"
  | "from_at"
  | "status"
  | "operation_id"
>;

/** The locks that people asked for. Writes inside the writer's transaction; reads on any connection. */
export class LockTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** What is asked for of a customer's locks, by number. */
  of({ namespace, id }: RecordKey): LockWish[] {
    return this.#statements.of.all(namespace, id).map((row) => ({
      assetNumber: row.asset_number,
      wanted: row.wanted,
      licenseType: row.license_type,
      largeCustomer: row.large_customer === 1,
      by: row.asked_by,
      reason: row.reason,
      askedAt: row.from_at,
      status: row.status,
      operationId: row.operation_id,
    }));
  }

  asked({ customer, wish }: Extract<StateChange, { type: "lock-asked" }>, at: string): void {
    this.#statements.end.run(at, wish.assetNumber);
    const { assetNumber, wanted, licenseType, largeCustomer, by, reason } = wish;
    const { namespace, id } = customer;
    this.#statements.ask.run(assetNumber, at, namespace, id, wanted, licenseType, largeCustomer ? 1 : 0, by, reason);
  }

  answered(change: Extract<StateChange, { type: "lock-answered" }>, at: string): void {
    const { status, operationId, assetNumber, wanted } = change;
    this.#statements.answer.run({ status, at, operationId, assetNumber, wanted });
  }

  withdrawn({ customer, assetNumber }: Extract<StateChange, { type: "lock-withdrawn" }>, at: string): void {
    this.#statements.withdraw.run(at, assetNumber, customer.namespace, customer.id);
  }
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<[string, string], WishRow>(
        `select asset_number, wanted, license_type, large_customer, asked_by, reason, from_at, status, operation_id
         from lock_wish
         where to_at is null and customer_namespace = +? and customer_id = +? order by asset_number`,
      ),
    end: () => database.prepare("update lock_wish set to_at = ?, due = 0 where asset_number = ? and to_at is null"),
    ask: () =>
      database.prepare(
        `insert into lock_wish (asset_number, from_at, customer_namespace, customer_id, wanted, license_type,
           large_customer, asked_by, reason, due)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
         on conflict (asset_number, from_at) do update
           set to_at = null, customer_namespace = excluded.customer_namespace,
           customer_id = excluded.customer_id, wanted = excluded.wanted, license_type = excluded.license_type,
           large_customer = excluded.large_customer, asked_by = excluded.asked_by, reason = excluded.reason,
           status = null, answered_at = null, operation_id = null, due = 1`,
      ),
    // 3 is tried again; 1, 2 and 4 are not sent again by themselves (A26).
    answer: () =>
      database.prepare(
        `update lock_wish set status = @status, answered_at = @at, operation_id = @operationId,
           due = iif(@status = 3, 1, 0)
         where asset_number = @assetNumber and wanted = @wanted and to_at is null`,
      ),
    withdraw: () =>
      database.prepare(
        `update lock_wish set to_at = ?, due = 0
         where asset_number = ? and customer_namespace = ? and customer_id = ? and to_at is null`,
      ),
  });
}
