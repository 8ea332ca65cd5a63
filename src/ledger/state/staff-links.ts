import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { KnownStaffLinks, StaffLink, StaffLinked } from "../../operation/state/staff-links.ts";
import { usable } from "../../operation/state/usable.ts";
import { stored } from "../database/stored.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { table } from "../database/table.ts";
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
}

export const staffLinkTables = { staff_link: table<StaffLinkTable>() };

/** Which member of the platform each of the CRM's people is. */
export class StaffLinkRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  known({ namespace, id }: RecordKey): KnownStaffLinks {
    const rows = this.#statements.of.all(namespace, id).filter((row) => usable(row.member_global_id));
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

  isStaffLinked(staff: RecordKey): boolean {
    return this.#statements.staffLinked.get(staff.namespace, staff.id) !== undefined;
  }

  readonly writes: Writes<StaffLinked> = {
    "staff-linked": (change, at) => {
      const { staff, customer, enterpriseGlobalId, memberGlobalId, origin, profile } = change;
      this.#statements.end.run(at, staff.namespace, staff.id);
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
    staffLinked: () =>
      database.prepare<[string, string], Pick<StaffLinkTable, "staff_id">>(
        "select staff_id from staff_link where namespace = +? and staff_id = +? and to_at is null",
      ),
    end: () =>
      database.prepare("update staff_link set to_at = ? where namespace = +? and staff_id = +? and to_at is null"),
    begin: () =>
      database.prepare(
        `insert into staff_link (namespace, staff_id, from_at, customer_namespace, customer_id, enterprise_global_id,
         member_global_id, origin, profile) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
  });
}
