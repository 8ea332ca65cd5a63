import type { RecordKey } from "../../crm/model.ts";
import type { AcknowledgedChange, AcknowledgedFields, KnownAcknowledged } from "../../operation/state/acknowledged.ts";
import { stored } from "../database/stored.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { table } from "../database/table.ts";
import type { Writes } from "./writes.ts";

export interface AcknowledgedTable {
  namespace: string;
  customer_id: string;
  from_at: string;
  to_at: string | null;
  fields: string;
}

export const acknowledgedTables = { acknowledged: table<AcknowledgedTable>() };

/** What the platform acknowledged of each enterprise. */
export class AcknowledgedRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  known({ namespace, id }: RecordKey): KnownAcknowledged {
    const row = this.#statements.of.get(namespace, id);
    return { acknowledged: row === undefined ? undefined : stored<AcknowledgedFields>(row.fields) };
  }

  #end({ namespace, id }: RecordKey, at: string): void {
    this.#statements.end.run(at, namespace, id, namespace, id);
  }

  readonly writes: Writes<AcknowledgedChange> = {
    acknowledged: ({ customer, fields }, at) => {
      const { namespace, id } = customer;
      this.#end(customer, at);
      this.#statements.begin.run(namespace, id, at, JSON.stringify(fields));
    },
    "acknowledged-ended": ({ customer }, at) => this.#end(customer, at),
  };
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<[string, string], Pick<AcknowledgedTable, "fields">>(
        `select fields from acknowledged where namespace = +? and customer_id = +? and to_at is null
          order by from_at desc limit 1`,
      ),
    end: () =>
      // The newest one but for a clock that was set back.
      database.prepare<[string, string, string, string, string]>(
        `update acknowledged set to_at = ? where namespace = +? and customer_id = +? and from_at = (
           select from_at from acknowledged where namespace = +? and customer_id = +? and to_at is null
           order by from_at desc limit 1)`,
      ),
    begin: () =>
      database.prepare(
        `insert into acknowledged (namespace, customer_id, from_at, fields) values (?, ?, ?, ?)
       on conflict (namespace, customer_id, from_at) do update set to_at = null, fields = excluded.fields`,
      ),
  });
}
