import type { RecordKey } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { Row } from "../tables.ts";

/** Which customers, enterprises, people and assets belong together now. Reads only. */
export class LinkTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** Customers with a link, in key order after `after`. */
  customers(after: RecordKey | undefined, limit: number): RecordKey[] {
    return this.#statements.customers
      .all(after?.namespace ?? "", after?.id ?? "", limit)
      .map((row) => ({ namespace: row.namespace, id: row.customer_id }));
  }

  customerOfEnterprise(enterpriseGlobalId: string): RecordKey | undefined {
    const row = this.#statements.customerOfEnterprise.get(enterpriseGlobalId);
    return row === undefined ? undefined : { namespace: row.namespace, id: row.customer_id };
  }

  isStaffLinked(staff: RecordKey): boolean {
    return this.#statements.staffLinked.get(staff.namespace, staff.id) !== undefined;
  }

  liveAssignments(customer: RecordKey | undefined): number {
    const row =
      customer === undefined
        ? this.#statements.liveAssignments.get()
        : this.#statements.liveAssignmentsOf.get(customer.namespace, customer.id);
    return row?.count ?? 0;
  }
}

type LinkedCustomer = Row<"link", "namespace" | "customer_id">;

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    customers: () =>
      database.prepare<[string, string, number], LinkedCustomer>(
        `select namespace, customer_id from link where to_at is null and (namespace, customer_id) > (?, ?)
       order by namespace, customer_id limit ?`,
      ),
    customerOfEnterprise: () =>
      database.prepare<[string], LinkedCustomer>(
        "select namespace, customer_id from link where enterprise_global_id = +? and to_at is null",
      ),
    staffLinked: () =>
      database.prepare<[string, string], Row<"staff_link", "staff_id">>(
        "select staff_id from staff_link where namespace = +? and staff_id = +? and to_at is null",
      ),
    liveAssignments: () => database.prepare<[], { count: number }>("select count from tally where name = 'assignment'"),
    liveAssignmentsOf: () =>
      database.prepare<[string, string], { count: number }>(
        "select count(*) as count from assignment where to_at is null and customer_namespace = +? and customer_id = +?",
      ),
  });
}
