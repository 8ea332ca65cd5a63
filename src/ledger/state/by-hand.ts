import type { Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql, table } from "../database/statements.ts";
import type { Writes } from "../../engine/model/resource.ts";

/** Manual work that a person recorded. `unseen` (JSON): parts that no reading showed, of the form with `body_hash`. */
export interface ByHandTable {
  namespace: string;
  id: string;
  stream: Stream;
  body_hash: string;
  at: string;
  by: string;
  reason: string;
  unseen: string;
  ended_at: string | null;
}

export const byHandTables = { by_hand: table<ByHandTable>() };

export class ByHandRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  readonly writes = {
    "done-by-hand": ({ stream, key: { namespace, id }, bodyHash, by, reason, unseen }, at) => {
      this.#statements.end.run(at, stream, namespace, id);
      this.#statements.begin.run(namespace, id, stream, bodyHash, at, by, reason, JSON.stringify(unseen));
    },
  } satisfies Writes;
}

const texts = {
  end: sql`update by_hand set ended_at = ? where stream = +? and namespace = +? and id = +?
    and ended_at is null`,
  begin: sql`insert into by_hand (namespace, id, stream, body_hash, at, by, reason, unseen)
    values (?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (stream, namespace, id, at) do update set ended_at = null, body_hash = excluded.body_hash,
      by = excluded.by, reason = excluded.reason, unseen = excluded.unseen`,
};
