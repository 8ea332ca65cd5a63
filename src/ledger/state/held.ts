import type { RecordKey } from "../../crm/model.ts";
import { handedIn } from "../../engine/model/registry.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import { rebuiltKind } from "./observations.ts";

export interface Held {
  [resource: string]: number;
  open: number;
  waits: number;
  held: number;
  asked: number;
  rejected: number;
  /** Somebody's row is in quarantine. */
  quarantined: number;
  /** After a rebuild: earlier decisions are unknown, and operations are left. */
  rebuilt: number;
  unread: number;
}

/** One query instead of many: most customers of a first run have no rows. Reads only. */
export class HeldRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  of({ namespace, id }: RecordKey): Held {
    const held = this.#statements.held.get({ namespace, id });
    if (held === undefined) throw new Error("a question that always has an answer had none");
    return held;
  }
}

function prepareStatements(database: Sqlite) {
  const resources = handedIn().resources.flatMap(({ state }) =>
    Object.entries(state?.holds ?? {}).map(([name, holds]) => `${holds} as ${name}, `),
  );
  const of = "customer_namespace = +@namespace and customer_id = +@id";
  return prepared(database, {
    held: sql<[RecordKey], Held>`select ${resources.join("")}
      exists (select 1 from operation where state in ('sending', 'unknown', 'parked') and ${of}) as open,
      exists (select 1 from operation where state in ('planned', 'held') and ${of}) as waits,
      exists (select 1 from hold where state in ('asked', 'approved', 'rejected') and ${of}) as held,
      exists (select 1 from manual_request where ${of}) as asked,
      exists (select 1 from rejection where ${of}) as rejected,
      exists (select 1 from quarantine where state <> 'resolved') as quarantined,
      exists (select 1 from observation where ${of} and kind = '${rebuiltKind}' and to_at is null) as rebuilt,
      exists (select 1 from unread_customer where namespace = +@namespace and id = +@id and ended_at is null)
        as unread`,
  });
}
