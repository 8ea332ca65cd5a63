import type { Writes } from "../../../engine/model/resource.ts";
import type { RecordKey } from "../../../crm/model.ts";
import { oneByOne } from "../../../engine/model/state-part.ts";
import type { LinkedEnterprise } from "../../../engine/model/state-part.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { statements } from "../../../ledger/database/statements.ts";
import { table } from "../../../ledger/database/table.ts";

type MembersProtecteds = { [One in MembersProtected as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends MembersProtecteds {}
  interface ResourceTables {
    protected_member: ProtectedMemberTable;
  }
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownProtectedMembers {}
}

export interface KnownProtectedMembers {
  protectedMembers: ReadonlySet<string>;
}

export interface MembersProtected {
  type: "members-protected";
  enterpriseGlobalId: string;
  memberGlobalIds: string[];
  reason: string;
}

const protectedMembers = oneByOne<LinkedEnterprise & KnownProtectedMembers, MembersProtected>(
  (known, { enterpriseGlobalId, memberGlobalIds }) => {
    if (known.link?.enterpriseGlobalId !== enterpriseGlobalId) return known;
    return { ...known, protectedMembers: new Set([...known.protectedMembers, ...memberGlobalIds]) };
  },
);

export const protectedMembersParts = { "members-protected": protectedMembers };

export interface ProtectedMemberTable {
  member_global_id: string;
  enterprise_global_id: string;
  reason: string;
  seen_at: string;
}

export const protectedMemberTables = { protected_member: table<ProtectedMemberTable>() };

/** Members that are never taken away from an enterprise. */
export class ProtectedMemberRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  known({ namespace, id }: RecordKey): KnownProtectedMembers {
    const rows = this.#statements.ofCustomer.all(namespace, id);
    return { protectedMembers: new Set(rows.map((row) => row.member_global_id)) };
  }

  of(enterprise: string): string[] {
    return this.#statements.of.all(enterprise).map((row) => row.member_global_id);
  }

  readonly writes = {
    "members-protected": ({ enterpriseGlobalId, memberGlobalIds, reason }, at) => {
      for (const member of memberGlobalIds) this.#statements.protect.run(member, enterpriseGlobalId, reason, at);
    },
  } satisfies Writes;
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    // Of every enterprise that the customer was ever linked with, also under an id that could not be used.
    ofCustomer: () =>
      database.prepare<[string, string], Pick<ProtectedMemberTable, "member_global_id">>(
        `select p.member_global_id from link l
       join protected_member p on p.enterprise_global_id = l.enterprise_global_id
       where l.namespace = +? and l.customer_id = +?`,
      ),
    of: () =>
      database.prepare<[string], Pick<ProtectedMemberTable, "member_global_id">>(
        "select member_global_id from protected_member where enterprise_global_id = +?",
      ),
    protect: () =>
      database.prepare(
        `insert into protected_member (member_global_id, enterprise_global_id, reason, seen_at) values (?, ?, ?, ?)
          on conflict do nothing`,
      ),
  });
}
