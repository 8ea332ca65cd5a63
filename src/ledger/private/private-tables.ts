import type { JsonObject } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import { type PrivateMarker, markerKey } from "../../engine/model/references.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql, table } from "../database/statements.ts";
import { stored } from "../database/damage.ts";
import type { FullRow, Row } from "../tables.ts";

/** Writes run inside the writer's transaction. */
export class PrivateTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      find: sql<[string, number], Row<"private_value", "salt" | "body" | "sealed">>`
        select salt, body, sealed from private_value where ref = +? and version = +?`,
      // `cross join` makes SQLite start with the records: a private value has none of their columns.
      ofCustomer: sql<[string, string], FullRow<"private_value", "ref" | "version" | "body">>`
        select p.ref, p.version, p.body from record r cross join private_value p
          where r.customer_namespace = +? and r.customer_id = +? and +r.stream in ('customers', 'staff')
            and p.ref = r.stream || '/' || r.namespace || '/' || r.id and p.version = r.version and p.body is not null
          order by r.stream, r.namespace, r.id`,
      rawSalt: sql<[], FullRow<"private_value", "salt">>`
        select salt from private_value where ref = 'raw-salt' and version = 1`,
      keepRawSalt: sql`insert into private_value (ref, version, salt, created_at) values ('raw-salt', 1, ?, ?)
        on conflict do nothing`,
      isSealed: sql<[string], { version: number }>`
        select version from private_value where ref = +? and sealed is not null limit 1`,
      latest: sql<[string], Row<"private_value", "version" | "sealed">>`
        select version, sealed from private_value where ref = +? order by version desc limit 1`,
      seal: sql`insert into private_value (ref, version, salt, body, sealed, created_at) values (?, ?, ?, null, ?, ?)
        on conflict do nothing`,
    });
  }

  find(ref: string, version: number): Row<"private_value", "salt" | "body" | "sealed"> | undefined {
    return this.#statements.find.get(ref, version);
  }

  isSealed(ref: string): boolean {
    return this.#statements.isSealed.get(ref) !== undefined;
  }

  ofCustomer({ namespace, id }: RecordKey): Map<string, string> {
    const values = new Map<string, string>();
    for (const { ref, version, body } of this.#statements.ofCustomer.all(namespace, id)) {
      for (const [field, value] of Object.entries(stored<JsonObject>(body, `private_value ${ref}`)))
        if (typeof value === "string") values.set(markerKey({ $private: ref, field, version }), value);
    }
    return values;
  }

  clearText({
    $private: ref,
    version,
    field,
  }: Pick<PrivateMarker, "$private" | "version" | "field">): string | undefined {
    const body = this.find(ref, version)?.body;
    const value = typeof body === "string" ? stored<JsonObject>(body, `private_value ${ref}`)[field] : undefined;
    return typeof value === "string" ? value : undefined;
  }

  rawSalt(): string | undefined {
    return this.#statements.rawSalt.get()?.salt;
  }

  keepRawSalt(salt: string, at: string): void {
    this.#statements.keepRawSalt.run(salt, at);
  }

  latest(ref: string): Row<"private_value", "version" | "sealed"> | undefined {
    return this.#statements.latest.get(ref);
  }

  seal(of: { ref: string; version: number; salt: string }, sealed: string, at: string): void {
    this.#statements.seal.run(of.ref, of.version, of.salt, sealed, at);
  }
}

/** Values, raw records and answers that no other table may hold in clear. */
export interface PrivateValueTable {
  ref: string;
  version: number;
  salt: string | null;
  body: string | null;
  sealed: string | null;
  created_at: string;
  wiped_at: string | null;
  /** Search keys: see `nameKeysOf`. */
  name_key: string | null;
  login_key: string | null;
}

export const privateTables = {
  private_value: table<PrivateValueTable>(),
};

/** Key in `meta`: erased bytes may remain in the file of the ledger. The value names the erased record. */
export const bytesLeft = "erased-bytes-left";
