import { sqlOf } from "../../ledger/database/statements.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { StateRows, StateStore } from "../../engine/model/resource.ts";
import { type Known, together, compareBytes, isSameKey } from "../../engine/model/state.ts";

export interface Assignment {
  assetNumber: string;
  staff: RecordKey;
  memberGlobalId: string;
  origin: "granted" | "adopted";
}

interface AssignmentBegins extends Assignment {
  type: "asset-granted";
  customer: RecordKey;
  /** Null: learned by a reading. */
  operationId: string | null;
}

interface AssignmentEnds {
  type: "asset-revoked";
  assetNumber: string;
  operationId: string | null;
}

declare module "../../engine/model/state.ts" {
  interface Known {
    assignments: Assignment[];
  }
}

const assignments = together<{ assignments: Assignment[] }, AssignmentBegins | AssignmentEnds>((known, changes, of) => {
  const held = new Map(known.assignments.map((item) => [item.assetNumber, item]));
  for (const change of changes) {
    const { assetNumber } = change;
    if (change.type === "asset-granted" && isSameKey(change.customer, of.customer)) {
      const { staff, memberGlobalId, origin } = change;
      held.set(assetNumber, { assetNumber, staff, memberGlobalId, origin });
      continue;
    }
    // It ended, or a person of another customer holds it.
    held.delete(assetNumber);
  }
  const sorted = [...held.values()].toSorted((one, other) => compareBytes(one.assetNumber, other.assetNumber));
  return { ...known, assignments: sorted };
});

const later = { ...assignments, isForLater: true as const };
const changes = { "asset-granted": later, "asset-revoked": later };

/** One row per period of holding; `to_at` is null while it lasts. */
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
  interface ChangeShapes {
    "asset-granted": AssignmentBegins;
    "asset-revoked": AssignmentEnds;
  }
  interface ResourceRows {
    assignment: AssignmentRows;
  }
  interface ResourceTables {
    assignment: AssignmentTable;
  }
}

const nothing: Pick<Known, "assignments"> = { assignments: [] };

export const state = {
  tables: ["assignment"],
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

const texts = {
  of: `select asset_number as assetNumber, namespace, staff_id as id, member_global_id as memberGlobalId, origin
    from assignment
    where customer_namespace = +? and customer_id = +? and to_at is null order by asset_number`,
  // Numbers of accounts in an earlier enterprise of the customer.
  elsewhere: `select a.asset_number as number from link l join assignment a
      on a.customer_namespace = l.namespace and a.customer_id = l.customer_id and a.to_at is null
    where l.namespace = +@namespace and l.customer_id = +@id and l.to_at is null and exists (
      select 1 from staff_link s where s.namespace = a.namespace and s.staff_id = a.staff_id
      and s.member_global_id = a.member_global_id and s.enterprise_global_id <> l.enterprise_global_id)`,
  count: `select count(*) from assignment where to_at is null and customer_namespace = +? and customer_id = +?`,
  all: "select count from tally where name = 'assignment'",
  last: `select operation_id, ended_by, to_at from assignment where asset_number = +?
    order by to_at is not null, from_at desc limit 1`,
  end: "update assignment set to_at = ?, ended_by = ? where asset_number = +? and to_at is null",
  begin: `insert into assignment (asset_number, from_at, namespace, staff_id, customer_namespace, customer_id,
      member_global_id, origin, operation_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (asset_number, from_at) do update
      set to_at = null, ended_by = null, namespace = excluded.namespace, staff_id = excluded.staff_id,
      customer_namespace = excluded.customer_namespace, customer_id = excluded.customer_id,
      member_global_id = excluded.member_global_id, origin = excluded.origin, operation_id = excluded.operation_id`,
};

/** Writes the table `assignment`. For the `+` before a parameter see `statements`. */
function open(database: Sqlite): AssignmentRows {
  const sql = sqlOf(database, texts);
  const end = (assetNumber: string, operationId: string | null, at: string): void => {
    sql.change("end", [at, operationId, assetNumber]);
  };
  return {
    load: ({ namespace, id }) => ({
      assignments: sql
        .rows<Omit<Assignment, "staff"> & RecordKey>("of", [namespace, id])
        .map(({ namespace, id, ...row }): Assignment => ({ ...row, staff: { namespace, id } })),
    }),
    ofLink({ assignments }, { namespace, id }, held) {
      if (held["staff"] !== 1) return {};
      const rows = sql.rows<{ number: string }>("elsewhere", { namespace, id });
      const elsewhere = new Set(rows.map(({ number }) => number));
      return rows.length === 0 ? {} : { assignments: assignments.filter((item) => !elsewhere.has(item.assetNumber)) };
    },
    writes: {
      "asset-granted": ({ assetNumber, staff, customer, memberGlobalId, origin, operationId }, at) => {
        end(assetNumber, operationId, at);
        const whose = [staff.namespace, staff.id, customer.namespace, customer.id] as const;
        sql.change("begin", [assetNumber, at, ...whose, memberGlobalId, origin, operationId]);
      },
      "asset-revoked": ({ assetNumber, operationId }, at) => end(assetNumber, operationId, at),
    },
    count(thing, customer) {
      if (thing !== "seats") return undefined;
      return (customer === undefined ? sql.value("all") : sql.value("count", [customer.namespace, customer.id])) ?? 0;
    },
    lastChange(assetNumber) {
      const row = sql.row<Pick<AssignmentTable, "operation_id" | "ended_by" | "to_at">>("last", [assetNumber]);
      if (row === undefined) return undefined;
      return { givenBy: row.operation_id, takenBy: row.ended_by, isHeld: row.to_at === null };
    },
  };
}
