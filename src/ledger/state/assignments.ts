import type { RecordKey } from "../../crm/model.ts";
import type { Assignment, AssignmentChange, KnownAssignments } from "../../operation/state/assignments.ts";
import type { LastGiven } from "../../plan/undoing.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { table } from "../database/table.ts";
import type { Writes } from "./writes.ts";

export interface AssignmentTable {
  asset_number: string;
  from_at: string;
  to_at: string | null;
  namespace: string;
  staff_id: string;
  customer_namespace: string;
  customer_id: string;
  member_global_id: string;
  origin: "granted" | "adopted";
  operation_id: string | null;
  ended_by: string | null;
}

export const assignmentTables = { assignment: table<AssignmentTable>() };

/** Who holds which asset. */
export class AssignmentRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  known({ namespace, id }: RecordKey): KnownAssignments {
    const rows = this.#statements.of.all(namespace, id);
    return {
      assignments: rows.map((row): Assignment => ({
        assetNumber: row.asset_number,
        staff: { namespace: row.namespace, id: row.staff_id },
        memberGlobalId: row.member_global_id,
        origin: row.origin,
      })),
    };
  }

  /** How an asset was given last; undefined: it never was. */
  lastGiven(assetNumber: string): LastGiven | undefined {
    const row = this.#statements.last.get(assetNumber);
    if (row === undefined) return undefined;
    return { givenBy: row.operation_id, takenBy: row.ended_by, isHeld: row.to_at === null };
  }

  /** The numbers that members of another enterprise hold than the one that the customer is linked with. */
  elsewhere({ namespace, id }: RecordKey): string[] {
    return this.#statements.elsewhere.all({ namespace, id }).map((row) => row.asset_number);
  }

  readonly writes: Writes<AssignmentChange> = {
    "asset-granted": (change, at) => {
      const { assetNumber, staff, customer, memberGlobalId, origin, operationId } = change;
      this.#statements.end.run(at, operationId, assetNumber);
      this.#statements.begin.run(
        assetNumber,
        at,
        staff.namespace,
        staff.id,
        customer.namespace,
        customer.id,
        memberGlobalId,
        origin,
        operationId,
      );
    },
    "asset-revoked": ({ assetNumber, operationId }, at) => {
      this.#statements.end.run(at, operationId, assetNumber);
    },
  };
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<
        [string, string],
        Pick<AssignmentTable, "asset_number" | "namespace" | "staff_id" | "member_global_id" | "origin">
      >(
        `select asset_number, namespace, staff_id, member_global_id, origin from assignment
       where customer_namespace = +? and customer_id = +? and to_at is null order by asset_number`,
      ),
    last: () =>
      database.prepare<[string], Pick<AssignmentTable, "operation_id" | "ended_by" | "to_at">>(
        `select operation_id, ended_by, to_at from assignment where asset_number = +?
         order by to_at is not null, from_at desc limit 1`,
      ),
    // Who has an account in the enterprise by now had another one before.
    elsewhere: () =>
      database.prepare<[RecordKey], Pick<AssignmentTable, "asset_number">>(
        `select a.asset_number from link l join assignment a
           on a.customer_namespace = l.namespace and a.customer_id = l.customer_id and a.to_at is null
         where l.namespace = +@namespace and l.customer_id = +@id and l.to_at is null and exists (
           select 1 from staff_link s where s.namespace = a.namespace and s.staff_id = a.staff_id
           and s.member_global_id = a.member_global_id and s.enterprise_global_id <> l.enterprise_global_id)`,
      ),
    end: () =>
      database.prepare("update assignment set to_at = ?, ended_by = ? where asset_number = +? and to_at is null"),
    begin: () =>
      database.prepare(
        `insert into assignment (asset_number, from_at, namespace, staff_id, customer_namespace, customer_id,
         member_global_id, origin, operation_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (asset_number, from_at) do update
         set to_at = null, namespace = excluded.namespace, staff_id = excluded.staff_id,
         member_global_id = excluded.member_global_id, origin = excluded.origin, operation_id = excluded.operation_id`,
      ),
  });
}
