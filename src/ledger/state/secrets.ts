import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { Writes } from "../../engine/model/resource.ts";

/** Secrets for payloads. They are wiped when nothing needs them. */
export class SecretRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  readonly writes = {
    "secrets-wiped": ({ ref, version }, at) => {
      this.#statements.wipe.run(at, ref, version);
    },
  } satisfies Writes;
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    wipe: () =>
      database.prepare(
        "update private_value set sealed = null, wiped_at = ? where ref = +? and version <= ? and sealed is not null",
      ),
  });
}
