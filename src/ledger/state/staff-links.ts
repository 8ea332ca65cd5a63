import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { KnownStaffLinks, StaffChange, StaffLink } from "../../operation/state/staff-links.ts";
import { stored } from "../database/stored.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { table } from "../database/table.ts";
import type { DifferenceRows } from "./differences.ts";
import type { Writes } from "./writes.ts";

export interface StaffLinkTable {
  namespace: string;
  staff_id: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  enterprise_global_id: string;
  member_global_id: string;
  origin: StaffLink["origin"];
  profile: string;
  /** The operation that deleted the account. */
  ended_by: string | null;
}

export const staffLinkTables = { staff_link: table<StaffLinkTable>() };

/** Which member of the platform each of the CRM's people is. */
export class StaffLinkRows {
  readonly #statements;
  readonly #differences: DifferenceRows;

  constructor(database: Sqlite, differences: DifferenceRows) {
    this.#statements = prepareStatements(database);
    this.#differences = differences;
  }

  known({ namespace, id }: RecordKey): KnownStaffLinks {
    const rows = this.#statements.of.all(namespace, id);
    return {
      staffLinks: new Map(
        rows.map((row): [string, StaffLink] => {
          const key = { namespace: row.namespace, id: row.staff_id };
          return [
            formatKey(key),
            {
              key,
              memberGlobalId: row.member_global_id,
              origin: row.origin,
              profile: stored<StaffLink["profile"]>(row.profile),
            },
          ];
        }),
      ),
    };
  }

  /** Whose account of a customer is in another enterprise than the one that it is linked with; by key. */
  elsewhere({ namespace, id }: RecordKey): string[] {
    const rows = this.#statements.elsewhere.all({ namespace, id });
    return rows.map((row) => formatKey({ namespace: row.namespace, id: row.staff_id }));
  }

  /**
   * The account of a staff record, the customer in whose enterprise it is, and since when: the one that the CRM has
   * the person with, where they have an account there, else the newest.
   */
  linkOf(staff: RecordKey): { customer: RecordKey; memberGlobalId: string; since: string } | undefined {
    const row = this.#statements.ofStaff.get(staff.namespace, staff.id);
    if (row === undefined) return undefined;
    const { customer_namespace: namespace, customer_id: id, member_global_id: memberGlobalId } = row;
    return { customer: { namespace, id }, memberGlobalId, since: row.from_at };
  }

  readonly writes: Writes<StaffChange> = {
    "staff-linked": (change, at) => {
      const { staff, customer, enterpriseGlobalId, memberGlobalId, origin, profile } = change;
      this.#statements.end.run(at, null, staff.namespace, staff.id, customer.namespace, customer.id);
      this.#statements.begin.run(
        staff.namespace,
        staff.id,
        at,
        customer.namespace,
        customer.id,
        enterpriseGlobalId,
        memberGlobalId,
        origin,
        JSON.stringify(profile),
      );
    },
    "staff-unlinked": ({ staff, customer, operationId }, at) => {
      this.#statements.end.run(at, operationId, staff.namespace, staff.id, customer.namespace, customer.id);
    },
    "staff-edited": ({ staff, customer, profile }, at) => {
      // M2 was accepted: what was shown otherwise has to be shown so anew before it is set again.
      if (profile.unread !== undefined) this.#differences.setAgain(customer, staff, at);
      this.#statements.edit.run(JSON.stringify(profile), staff.namespace, staff.id, customer.namespace, customer.id);
    },
  };
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<
        [string, string],
        Pick<StaffLinkTable, "namespace" | "staff_id" | "member_global_id" | "origin" | "profile">
      >(
        `select namespace, staff_id, member_global_id, origin, profile from staff_link
       where customer_namespace = +? and customer_id = +? and to_at is null order by namespace, staff_id`,
      ),
    elsewhere: () =>
      database.prepare<[RecordKey], Pick<StaffLinkTable, "namespace" | "staff_id">>(
        `select s.namespace, s.staff_id from link l join staff_link s
           on s.customer_namespace = l.namespace and s.customer_id = l.customer_id and s.to_at is null
         where l.namespace = +@namespace and l.customer_id = +@id and l.to_at is null
           and s.enterprise_global_id <> l.enterprise_global_id`,
      ),
    ofStaff: () =>
      database.prepare<
        [string, string],
        Pick<StaffLinkTable, "customer_namespace" | "customer_id" | "member_global_id" | "from_at">
      >(
        `select l.customer_namespace, l.customer_id, l.member_global_id, l.from_at from staff_link l
         left join record r on r.stream = 'staff' and r.namespace = l.namespace and r.id = l.staff_id
           and r.customer_namespace = l.customer_namespace and r.customer_id = l.customer_id
         where l.namespace = +? and l.staff_id = +? and l.to_at is null
         order by r.id is null, l.from_at desc limit 1`,
      ),
    end: () =>
      database.prepare(
        `update staff_link set to_at = ?, ended_by = ? where namespace = +? and staff_id = +? and to_at is null
         and customer_namespace = +? and customer_id = +?`,
      ),
    edit: () =>
      database.prepare(
        `update staff_link set profile = ? where namespace = +? and staff_id = +? and to_at is null
         and customer_namespace = +? and customer_id = +?`,
      ),
    begin: () =>
      database.prepare(
        `insert into staff_link (namespace, staff_id, from_at, customer_namespace, customer_id, enterprise_global_id,
         member_global_id, origin, profile) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
  });
}
