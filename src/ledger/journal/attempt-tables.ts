import { toInstant } from "../../base/clock.ts";
import type { AttemptFacts } from "../../report/facts.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import { attempt, type AttemptRow } from "./journal-row.ts";
import type { AttemptTable, OperationState } from "./tables.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { NewRejections } from "./rejections.ts";

export interface Intent {
  holder: string | undefined;
  /** By the sender's clock, in epoch milliseconds. */
  startedAt: number;
  /** Epoch milliseconds. Undefined if the service set no limit. */
  acceptedUntil: number | undefined;
}

/** Attempts `a` of the operation `o` that were sent since the run `r` began. */
const sentSince = `a.operation_id = o.id and a.started_at >= r.started_at
  and (a.outcome is null or a.outcome <> 'not-sent')`;

/** Writes run inside the writer's transaction. */
export class AttemptTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      start: sql`insert into attempt (operation_id, number, nonce, wire_hash, started_at, holder, accepted_until)
        values (?, (select coalesce(max(number), 0) + 1 from attempt where operation_id = +?), ?, ?, ?, ?, ?)`,
      left: sql<[string], Pick<AttemptTable, "holder" | "started_at" | "accepted_until">>`
        select holder, started_at, accepted_until from attempt where operation_id = +?
          order by number desc limit 1`,
      finish: sql`update attempt set finished_at = ?, outcome = ?, http_status = ?, code = ?, detail = ?
        where operation_id = +? and finished_at is null`,
      lastUncertain: sql<[string], { at: string | null }>`
        select max(coalesce(a.finished_at, a.started_at)) as at from operation o
          join attempt a on a.operation_id = o.id
          where o.subject = +? and (a.outcome = 'unknown' or a.outcome is null)`,
      of: sql<[string], AttemptRow>`
        select operation_id, number, nonce, started_at, finished_at, outcome, http_status, code, detail from attempt
          where operation_id = +? order by number`,
      // Orders of asset numbers (E9) belong to the pool, not to a run. Those made since the run began are its own,
      // because it holds the lock.
      writingCalls: sql<[string], { count: number }>`
        select (select count(*) from operation o, attempt a where o.run_id = r.id and ${sentSince})
            + (select count(*) from operation o, attempt a where o.customer_id = '' and o.created_at >= r.started_at
                and o.run_id is not r.id and ${sentSince}) as count
          from run r where r.id = +?`,
    });
  }

  start(id: string, begun: Partial<Omit<Intent, "startedAt">> & { nonce: string; wireHash: string; at: string }): void {
    const { nonce, wireHash, at, holder = null, acceptedUntil: until } = begun;
    const acceptedUntil = until === undefined ? null : toInstant(until);
    this.#statements.start.run(id, id, nonce, wireHash, at, holder, acceptedUntil);
  }

  finish(id: string, { outcome, httpStatus, code, detail }: AttemptEnd, at: string): void {
    this.#statements.finish.run(at, outcome, httpStatus ?? null, code ?? null, detail ?? null, id);
  }

  left(id: string): Intent {
    const { holder = null, started_at: at = "", accepted_until: until = null } = this.#statements.left.get(id) ?? {};
    return {
      holder: holder ?? undefined,
      startedAt: Date.parse(at),
      acceptedUntil: until === null ? undefined : Date.parse(until),
    };
  }

  /** End of the last attempt with unknown outcome on a subject, in epoch milliseconds; 0 without one. */
  lastUncertain(subject: string): number {
    const { at = null } = this.#statements.lastUncertain.get(subject) ?? {};
    return at === null ? 0 : Date.parse(at);
  }

  writingCalls(run: string): number {
    return this.#statements.writingCalls.get(run)?.count ?? 0;
  }

  of(id: string): AttemptFacts[] {
    return this.#statements.of.all(id).map(attempt);
  }
}

export interface AttemptEnd {
  outcome: "done" | "rejected" | "not-sent" | "unknown";
  httpStatus?: number | undefined;
  code?: string | undefined;
  detail?: string | undefined;
}

/** The outcome of an operation, its changes and its audit entry. Committed together. */
export interface Conclusion {
  state: OperationState;
  /** The state that the caller read. If it changed since, nothing is concluded. */
  expected?: { state: OperationState; attempts: number } | undefined;
  attempt?: AttemptEnd | undefined;
  /** How long the call may still take effect, in milliseconds. */
  settleMs?: number | undefined;
  /** The end of an earlier settle time that still counts. */
  settleAfter?: string | undefined;
  verdict?: string | undefined;
  evidence?: Json | undefined;
  code?: string | undefined;
  message?: string | undefined;
  /** The redacted answer, kept if somebody must examine the outcome. */
  answer?: string | undefined;
  changes: readonly StateChange[];
  rejections?: NewRejections | undefined;
  audit: { kind: string; body: JsonObject };
}
