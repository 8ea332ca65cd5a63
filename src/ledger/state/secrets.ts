import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import type { Writes } from "../../engine/model/resource.ts";

/** Secrets for payloads. They are wiped when nothing needs them. */
export class SecretRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  readonly writes = {
    "secrets-wiped": ({ ref, version }, at) => {
      this.#statements.wipe.run(at, ref, version);
    },
  } satisfies Writes;
}

const texts = {
  wipe: sql`update private_value set sealed = null, wiped_at = ? where ref = +? and version <= ?
    and sealed is not null`,
};
