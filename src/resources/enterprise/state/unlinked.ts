import type { RecordKey } from "../../../crm/model.ts";
import type { KnownLink, LinkChange, Unlinked } from "./link.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { statements } from "../../../ledger/database/statements.ts";
import { table } from "../../../ledger/database/table.ts";

declare module "../../../engine/model/resource.ts" {
  interface ResourceTables {
    unlinked: UnlinkedTable;
  }
}

/** A customer whose link a person took away; it ends when a person links it again. */
export interface UnlinkedTable {
  namespace: string;
  customer_id: string;
  at: string;
  by: string;
  reason: string;
  enterprise_global_id: string;
  ended_at: string | null;
}

export const unlinkedTables = { unlinked: table<UnlinkedTable>() };

/** Which customers a person took the link away from. */
export class UnlinkedRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  known({ namespace, id }: RecordKey): Pick<KnownLink, "unlinked"> {
    return { unlinked: this.#statements.of.get(namespace, id) };
  }

  /** It is linked again. */
  end({ namespace, id }: RecordKey, at: string): void {
    this.#statements.end.run(at, namespace, id);
  }

  begin({ customer, enterpriseGlobalId, by, reason }: Extract<LinkChange, { type: "unlinked" }>, at: string): void {
    const { namespace, id } = customer;
    this.end(customer, at);
    this.#statements.begin.run(namespace, id, at, by, reason, enterpriseGlobalId);
  }
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<[string, string], Unlinked>(
        "select at, by, reason from unlinked where namespace = +? and customer_id = +? and ended_at is null",
      ),
    end: () =>
      database.prepare(
        "update unlinked set ended_at = ? where namespace = +? and customer_id = +? and ended_at is null",
      ),
    begin: () =>
      database.prepare(
        `insert into unlinked (namespace, customer_id, at, by, reason, enterprise_global_id) values (?, ?, ?, ?, ?, ?)
       on conflict (namespace, customer_id, at) do update
         set ended_at = null, by = excluded.by, reason = excluded.reason,
         enterprise_global_id = excluded.enterprise_global_id`,
      ),
  });
}
