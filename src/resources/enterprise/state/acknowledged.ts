import type { Writes } from "../../../engine/model/resource.ts";
import type { RecordKey } from "../../../crm/model.ts";
import type { DesiredCustomer } from "../../../engine/model/desired.ts";
import { oneByOne, isSameKey } from "../../../engine/model/state-part.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { statements } from "../../../ledger/database/statements.ts";
import { stored } from "../../../ledger/database/stored.ts";
import { table } from "../../../ledger/database/table.ts";

type AcknowledgedChanges = { [One in AcknowledgedChange as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends AcknowledgedChanges {}
  interface ResourceTables {
    acknowledged: AcknowledgedTable;
  }
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownAcknowledged {}
}

export interface KnownAcknowledged {
  /** Commitments of the fields that the platform acknowledged last by E2 or E4. */
  acknowledged: { name: string; branchName: string; address: string | null } | undefined;
}

export type AcknowledgedFields = NonNullable<KnownAcknowledged["acknowledged"]>;

/** The fields that E2 and E4 carry, as commitments: what is compared with what the platform acknowledged last. */
export function acknowledgedFields({ name, branchName, address }: DesiredCustomer): AcknowledgedFields {
  return { name: name.commitment, branchName, address: address?.commitment ?? null };
}

/** `acknowledged-ended`: it was of another enterprise than the one that is linked now. */
export type AcknowledgedChange =
  | { type: "acknowledged"; customer: RecordKey; fields: AcknowledgedFields }
  | { type: "acknowledged-ended"; customer: RecordKey };

const acknowledged = oneByOne<KnownAcknowledged, AcknowledgedChange>((known, change, { customer }) => {
  if (!isSameKey(change.customer, customer)) return known;
  return { ...known, acknowledged: change.type === "acknowledged" ? change.fields : undefined };
});

export const acknowledgedParts = { acknowledged, "acknowledged-ended": acknowledged };

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

  readonly writes = {
    acknowledged: ({ customer, fields }, at) => {
      const { namespace, id } = customer;
      const row = [namespace, id, at, JSON.stringify(fields)];
      if (this.#statements.beginFirst.run(...row, namespace, id).changes === 1) return;
      this.#end(customer, at);
      this.#statements.begin.run(...row);
    },
    "acknowledged-ended": ({ customer }, at) => this.#end(customer, at),
  } satisfies Writes;
}

/** Writes what was acknowledged if a condition holds. */
const acknowledgedWhere = (condition: string): string =>
  `insert into acknowledged (namespace, customer_id, from_at, fields) select ?, ?, ?, ? where ${condition}
   on conflict (namespace, customer_id, from_at) do update set to_at = null, fields = excluded.fields`;

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
    begin: () => database.prepare(acknowledgedWhere("true")),
    beginFirst: () =>
      database.prepare(
        acknowledgedWhere(
          "not exists (select 1 from acknowledged where namespace = +? and customer_id = +? and to_at is null)",
        ),
      ),
  });
}
