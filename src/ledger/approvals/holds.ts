import type { RecordKey } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { HoldTable } from "./tables.ts";

export interface HoldRow {
  id: string;
  scope: HoldTable["scope"];
  customer: RecordKey;
  count: number;
  allowed: number;
  total: number;
  setHash: string;
  state: HoldTable["state"];
  explanation: string;
  createdAt: string;
  decidedAt: string | null;
  reason: string | null;
  /** It holds what takes a run back: `apply` with the file of the undo carries that out, and no run. */
  ofUndo: boolean;
}

type HoldTableRow = Omit<HoldTable, "decided_by">;

/**
 * Whether something of a hold of the table or alias `hold` waits for a person's word. Where each operation of it was
 * approved by itself, nothing does, although the hold stands until they are carried out.
 */
export const waitsForWord = (hold: string): string =>
  `(${hold}.state = 'open' and exists (select 1 from hold_operation i where i.hold_id = ${hold}.id
    and i.ended_at is null and not exists (select 1 from approved_operation a
      where a.kind = i.kind and a.hash = i.hash and a.hold_id = i.hold_id and a.used_at is null)))`;

/** What a limit stopped, and the person's word on it. */
export class HoldTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  openHold(hold: Omit<HoldRow, "state" | "decidedAt" | "reason">): void {
    this.#statements.openHold.run(
      hold.id,
      hold.scope,
      hold.customer.namespace,
      hold.customer.id,
      hold.count,
      hold.allowed,
      hold.total,
      hold.setHash,
      hold.explanation,
      hold.createdAt,
      hold.ofUndo ? 1 : 0,
    );
  }

  /** The hold of a customer that stands: of what runs do, or of what takes a run back. */
  holdOf(customer: RecordKey, ofUndo: boolean): HoldRow | undefined {
    const row = this.#statements.holdOf.get(customer.namespace, customer.id, ofUndo ? 1 : 0);
    return row === undefined ? undefined : holdFromRow(row);
  }

  hold(id: string): HoldRow | undefined {
    const row = this.#statements.hold.get(id);
    return row === undefined ? undefined : holdFromRow(row);
  }

  /** Those that stand, oldest first; one of which nothing waits for a person's word any more is `approved`. */
  openHolds(): HoldRow[] {
    return this.#statements.openHolds
      .all()
      .map((row) => holdFromRow({ ...row, state: row.waits === 1 ? "open" : "approved" }));
  }

  setHold(id: string, state: HoldRow["state"], at: string, reason: string | null, by: string | null = null): void {
    this.#statements.setHold.run(state, at, reason, by, id);
  }

  /** The hold of exactly this set that a person rejected, as far as it is meant since then. */
  rejectedHold(customer: RecordKey, setHash: string): HoldRow | undefined {
    const row = this.#statements.rejectedHold.get(customer.namespace, customer.id, setHash);
    return row === undefined ? undefined : holdFromRow(row);
  }
}

function holdFromRow(row: HoldTableRow): HoldRow {
  return {
    id: row.id,
    scope: row.scope,
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    count: row.count,
    allowed: row.allowed,
    total: row.total,
    setHash: row.set_hash,
    state: row.state,
    explanation: row.explanation,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
    reason: row.reason,
    ofUndo: row.of_undo === 1,
  };
}

const holdColumns =
  "id, scope, customer_namespace, customer_id, count, allowed, total, set_hash, state, explanation, created_at, " +
  "decided_at, reason, of_undo";

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    openHold: () =>
      database.prepare(
        `insert into hold (id, scope, customer_namespace, customer_id, count, allowed, total, set_hash, explanation,
         created_at, of_undo, state)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')`,
      ),
    holdOf: () =>
      database.prepare<[string, string, number], HoldTableRow>(
        `select ${holdColumns} from hold where customer_namespace = +? and customer_id = +? and of_undo = ?
          and state in ('open', 'approved')`,
      ),
    hold: () => database.prepare<[string], HoldTableRow>(`select ${holdColumns} from hold where id = +?`),
    openHolds: () =>
      database.prepare<[], HoldTableRow & { waits: number }>(
        `select ${holdColumns}, ${waitsForWord("hold")} as waits from hold where state in ('open', 'approved')
          order by created_at, id`,
      ),
    setHold: () =>
      database.prepare(
        `update hold set state = ?, decided_at = ?, reason = coalesce(?, reason), decided_by = coalesce(?, decided_by)
          where id = +?`,
      ),
    rejectedHold: () =>
      database.prepare<[string, string, string], HoldTableRow>(
        `select ${holdColumns} from hold where customer_namespace = +? and customer_id = +? and set_hash = +?
          and state = 'rejected' and (not exists (select 1 from hold_operation i where i.hold_id = hold.id)
            or exists (select 1 from hold_operation i where i.hold_id = hold.id and i.ended_at is null)) limit 1`,
      ),
  });
}
