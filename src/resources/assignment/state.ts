import { table } from "../../ledger/database/statements.ts";
import { statements } from "../../ledger/database/statements.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { HeldAsset, StateRows, StateStore } from "../../engine/model/resource.ts";
import type { Known } from "../../engine/model/state.ts";
import { changes } from "./model.ts";
import type { Assignment } from "./model.ts";

/** One row for each time that somebody held an asset number; `to_at` is null while they hold it. */
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

type AssignmentRows = Required<Omit<StateRows, "gather">>;

declare module "../../engine/model/resource.ts" {
  interface ResourceRows {
    assignment: AssignmentRows;
  }
  interface ResourceTables {
    assignment: AssignmentTable;
  }
}

const nothing: Pick<Known, "assignments"> = { assignments: [] };

export const state = {
  tables: { assignment: table<AssignmentTable>() },
  nothing,
  changes,
  facts: {
    assignment: {
      of: ({ assignments }) => assignments.map(({ assetNumber, memberGlobalId }) => [assetNumber, memberGlobalId]),
      moved: (number) => [
        `who holds the asset ${number} changed`,
        `nobody holds the asset ${number} any more`,
        `${number} was given`,
      ],
    },
  },
  holds: {
    assignment:
      "exists (select 1 from assignment where to_at is null and customer_namespace = +@namespace and customer_id = +@id)",
  },
  open,
} satisfies StateStore<"asset-granted" | "asset-revoked", AssignmentRows>;

/** The only code that writes the table `assignment`. A `+` before a parameter: see `statements`. */
function open(database: Sqlite): AssignmentRows {
  const run = prepare(database);
  const end = (assetNumber: string, operationId: string | null, at: string): void => {
    run.end.run(at, operationId, assetNumber);
  };
  return {
    load: ({ namespace, id }) => ({
      assignments: run.of.all(namespace, id).map((row): Assignment => ({
        assetNumber: row.asset_number,
        staff: { namespace: row.namespace, id: row.staff_id },
        memberGlobalId: row.member_global_id,
        origin: row.origin,
      })),
    }),
    ofLink({ assignments }, { namespace, id }, held) {
      if (held["staff"] !== 1) return {};
      const elsewhere = new Set(run.elsewhere.all({ namespace, id }).map((row) => row.asset_number));
      return elsewhere.size === 0
        ? {}
        : { assignments: assignments.filter(({ assetNumber }) => !elsewhere.has(assetNumber)) };
    },
    writes: {
      "asset-granted": ({ assetNumber, staff, customer, memberGlobalId, origin, operationId }, at) => {
        end(assetNumber, operationId, at);
        const whose = [staff.namespace, staff.id, customer.namespace, customer.id] as const;
        run.begin.run(assetNumber, at, ...whose, memberGlobalId, origin, operationId);
      },
      "asset-revoked": ({ assetNumber, operationId }, at) => end(assetNumber, operationId, at),
    },
    count(thing, customer) {
      if (thing !== "seats") return undefined;
      return (customer === undefined ? run.all.get() : run.count.get(customer.namespace, customer.id)) ?? 0;
    },
    lastChange(assetNumber) {
      const row = run.last.get(assetNumber);
      if (row === undefined) return undefined;
      return { givenBy: row.operation_id, takenBy: row.ended_by, isHeld: row.to_at === null };
    },
    endAll: (at) => run.endAll.run({ at }).changes,
    bringBack({ namespace, id }, shown: readonly HeldAsset[], at) {
      for (const { assetNumber: number, memberGlobalId: member } of shown)
        run.bringBack.run({ namespace, id, number, member, at });
    },
  };
}

function prepare(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<
        [string, string],
        Pick<AssignmentTable, "asset_number" | "namespace" | "staff_id" | "member_global_id" | "origin">
      >(
        `select asset_number, namespace, staff_id, member_global_id, origin from assignment
         where customer_namespace = +? and customer_id = +? and to_at is null order by asset_number`,
      ),
    // Numbers of accounts in an enterprise that the customer was linked with before.
    elsewhere: () =>
      database.prepare<[RecordKey], Pick<AssignmentTable, "asset_number">>(
        `select a.asset_number from link l join assignment a
           on a.customer_namespace = l.namespace and a.customer_id = l.customer_id and a.to_at is null
         where l.namespace = +@namespace and l.customer_id = +@id and l.to_at is null and exists (
           select 1 from staff_link s where s.namespace = a.namespace and s.staff_id = a.staff_id
           and s.member_global_id = a.member_global_id and s.enterprise_global_id <> l.enterprise_global_id)`,
      ),
    count: () =>
      database
        .prepare<[string, string], number>(
          `select count(*) from assignment where to_at is null and customer_namespace = +? and customer_id = +?`,
        )
        .pluck(),
    all: () => database.prepare<[], number>("select count from tally where name = 'assignment'").pluck(),
    last: () =>
      database.prepare<[string], Pick<AssignmentTable, "operation_id" | "ended_by" | "to_at">>(
        `select operation_id, ended_by, to_at from assignment where asset_number = +?
         order by to_at is not null, from_at desc limit 1`,
      ),
    end: () =>
      database.prepare("update assignment set to_at = ?, ended_by = ? where asset_number = +? and to_at is null"),
    begin: () =>
      database.prepare(
        `insert into assignment (asset_number, from_at, namespace, staff_id, customer_namespace, customer_id,
         member_global_id, origin, operation_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (asset_number, from_at) do update
         set to_at = null, ended_by = null, namespace = excluded.namespace, staff_id = excluded.staff_id,
         customer_namespace = excluded.customer_namespace, customer_id = excluded.customer_id,
         member_global_id = excluded.member_global_id, origin = excluded.origin, operation_id = excluded.operation_id`,
      ),
    endAll: () => database.prepare("update assignment set to_at = @at where to_at is null"),
    bringBack: () =>
      database.prepare(
        `update assignment set to_at = null where asset_number = @number and to_at = @at and member_global_id = @member
         and customer_namespace = @namespace and customer_id = @id
         and not exists (select 1 from assignment n where n.asset_number = @number and n.to_at is null)
         and exists (select 1 from staff_link s where s.member_global_id = @member and s.to_at is null
           and s.namespace = assignment.namespace and s.staff_id = assignment.staff_id)`,
      ),
  });
}
