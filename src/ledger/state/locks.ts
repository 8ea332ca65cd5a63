import type { RecordKey } from "../../crm/model.ts";
import type { KnownLocks, LockChange, LockWish } from "../../operation/state/locks.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { table } from "../database/table.ts";
import type { Row } from "../tables.ts";
import type { Writes } from "./writes.ts";

/** What a person asked for of a lock, and what the service said last of it. */
export interface LockWishTable {
  asset_number: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  wanted: LockWish["wanted"];
  license_type: LockWish["licenseType"];
  large_customer: number;
  asked_by: string;
  reason: string;
  status: LockWish["status"];
  answered_at: string | null;
  operation_id: string | null;
  /** It is still to be sent. */
  due: number;
}

export const lockTables = { lock_wish: table<LockWishTable>() };

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
export class LockRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** What is asked for of a customer's locks, by number. */
  known({ namespace, id }: RecordKey): KnownLocks {
    const locks = this.#statements.of.all(namespace, id).map((row): LockWish => ({
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
    return { locks };
  }

  readonly writes: Writes<LockChange> = {
    "lock-asked": ({ customer: { namespace, id }, wish }, at) => {
      const { assetNumber, wanted, licenseType, largeCustomer, by, reason } = wish;
      const run = this.#statements;
      run.end.run(at, assetNumber);
      run.ask.run(assetNumber, at, namespace, id, wanted, licenseType, largeCustomer ? 1 : 0, by, reason);
    },
    "lock-answered": ({ status, operationId, assetNumber, wanted }, at) => {
      this.#statements.answer.run({ status, at, operationId, assetNumber, wanted });
    },
    "lock-withdrawn": ({ customer: { namespace, id }, assetNumber }, at) => {
      this.#statements.withdraw.run(at, assetNumber, namespace, id);
    },
  };
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
