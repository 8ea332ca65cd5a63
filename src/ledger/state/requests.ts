import { canonicalJson, parseJson, type Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import {
  theCrm,
  isDue,
  isRequestOf,
  outlivesAsset,
  readRequest,
  requestKindOf,
  requestsOf,
  standing,
  type CrmWish,
  type ManualRequest,
  type RequestOf,
} from "../../engine/model/requests.ts";
import type { KnownRequests } from "../../engine/model/state.ts";
import { unreadableRow } from "../database/damage.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql, table } from "../database/statements.ts";
import { WorkTables } from "../records/work.ts";
import type { Writes } from "../../engine/model/resource.ts";

export interface ManualRequestTable {
  of: string;
  about: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  wanted: string;
  details: string;
  asked_by: string;
  reason: string;
  answer: string | null;
  answered_at: string | null;
  operation_id: string | null;
  due: number;
  /** When its asset was deleted, if the CRM made the request. */
  gone_at: string | null;
}

export const requestTables = { manual_request: table<ManualRequestTable>() };

export const requestColumns = [
  "of",
  "about",
  "wanted",
  "details",
  "asked_by",
  "reason",
  "from_at",
  "answer",
  "answered_at",
  "operation_id",
] as const;
export type RequestRow = Pick<ManualRequestTable, (typeof requestColumns)[number]>;

/** Throws a Problem (exit code 65) that names row and column if one is damaged. */
export function requestFromRow(row: RequestRow): ManualRequest {
  const { of, about, reason, from_at: askedAt, operation_id: operationId } = row;
  const damaged = (column: string, cause?: unknown) => unreadableRow("manual_request", `${of} ${about}`, column, cause);
  const parsed = (column: "details" | "answer", text: string): Json => {
    try {
      return parseJson(text);
    } catch (error) {
      throw damaged(column, error);
    }
  };
  if (!isRequestOf(of)) throw damaged("of");
  const read = readRequest(
    of,
    { about, by: row.asked_by, reason, askedAt, operationId },
    {
      wanted: row.wanted,
      details: parsed("details", row.details),
      answer: row.answer === null ? null : parsed("answer", row.answer),
    },
  );
  if ("misfit" in read) throw damaged(read.misfit);
  return read.request;
}

/** Requests of people. Writes run inside the writer's transaction; any connection may read. */
export class RequestRows {
  readonly #work: WorkTables;
  readonly #statements;

  constructor(database: Sqlite) {
    this.#work = new WorkTables(database);
    this.#statements = prepared(database, texts);
  }

  of({ namespace, id }: RecordKey): ManualRequest[] {
    return this.#statements.of.all(namespace, id).map(requestFromRow);
  }

  standing({
    of,
    about,
  }: Pick<ManualRequest, "of" | "about">): { customer: RecordKey; request: ManualRequest } | undefined {
    const row = this.#statements.live.get(of, about);
    if (row === undefined) return undefined;
    const customer = { namespace: row.customer_namespace, id: row.customer_id };
    return { customer, request: requestFromRow(row) };
  }

  /** Other customers that have or had the same request: their calls may still take effect. */
  elsewhere({ namespace, id }: RecordKey, { of, about }: Pick<ManualRequest, "of" | "about">): RecordKey[] {
    return this.#statements.elsewhere.all(of, about, namespace, id);
  }

  known(customer: RecordKey): KnownRequests {
    return { requests: this.of(customer), crmAsked: this.#crmAsked(customer) };
  }

  #crmAsked({ namespace, id }: RecordKey): CrmWish[] {
    return this.#statements.crmAsked.all({ namespace, id, theCrm }).map((row) => {
      const { askedAt: _at, answer: _answer, operationId: _operation, ...wish } = requestFromRow(row);
      return row.gone_at === null ? wish : { ...wish, gone: true };
    });
  }

  readonly writes = {
    "request-made": ({ customer: { namespace, id }, request }, at) => {
      const { of, about, wanted, details, by, reason, askedAt = at } = request;
      this.#statements.end.run(at, of, about);
      this.#statements.make.run(of, about, askedAt, namespace, id, wanted, canonicalJson(details), by, reason);
    },
    "request-answered": ({ of, about, wanted, answer, operationId }, at) => {
      const due = isDue({ of, answer }) ? 1 : 0;
      this.#statements.answer.run({ answer: canonicalJson(answer), at, operationId, due, of, about, wanted });
      // Otherwise nobody is told if the process ends before the attempt does.
      if (standing({ of, answer }) === "refused") this.#lookAt({ of, about });
    },
    "request-withdrawn": ({ customer: { namespace, id }, of, about }, at) => {
      this.#statements.withdraw.run(at, of, about, namespace, id);
    },
  } satisfies Writes;

  /** Ends requests for deleted assets. The CRM's requests say nothing about later assets with the same number. */
  endGone(numbers: readonly string[], at: string): void {
    for (const of of requestsOf())
      for (const about of numbers) {
        if (requestKindOf({ of }).isOfAsset) this.#statements.gone.run(at, of, about, theCrm);
        const asked = this.standing({ of, about });
        if (asked === undefined || outlivesAsset(asked.request)) continue;
        this.#lookAt({ of, about });
        this.#statements.end.run(at, of, about);
      }
  }

  #lookAt(request: Pick<ManualRequest, "of" | "about">): void {
    const asked = this.standing(request);
    if (asked !== undefined) this.#work.markPending({ record: { stream: "customers", ...asked.customer } });
  }

  stands({ of, about, askedAt }: { of: RequestOf; about: string; askedAt: string }): boolean {
    return this.#statements.stands.get(of, about, askedAt) !== undefined;
  }
}

const texts = {
  end: sql`update manual_request set to_at = ?, due = 0 where of = ? and about = ? and to_at is null`,
  gone: sql`update manual_request set gone_at = ? where of = +? and about = +? and asked_by = ?
    and gone_at is null`,
  withdraw: sql`update manual_request set to_at = ?, due = 0
    where of = ? and about = ? and customer_namespace = ? and customer_id = ? and to_at is null`,
  of: sql<[string, string], RequestRow>`select ${requestColumns.join(", ")} from manual_request
    where to_at is null and customer_namespace = +? and customer_id = +? order by of, about`,
  crmAsked: sql<[RecordKey & { theCrm: string }], RequestRow & Pick<ManualRequestTable, "gone_at">>`
    select ${requestColumns.join(", ")}, gone_at from manual_request asked
      where customer_namespace = +@namespace and customer_id = +@id and asked_by = @theCrm and not exists (
        select 1 from manual_request later where later.of = asked.of and later.about = asked.about
        and (later.gone_at is null, later.from_at) > (asked.gone_at is null, asked.from_at)
        and later.asked_by = @theCrm
        and later.customer_namespace = asked.customer_namespace and later.customer_id = asked.customer_id)
      order by of, about`,
  live: sql<[string, string], RequestRow & Pick<ManualRequestTable, "customer_namespace" | "customer_id">>`
    select ${requestColumns.join(", ")}, customer_namespace, customer_id from manual_request
      where of = +? and about = +? and to_at is null`,
  elsewhere: sql<[string, string, string, string], RecordKey>`
    select distinct customer_namespace as namespace, customer_id as id from manual_request
      where of = +? and about = +? and not (customer_namespace = +? and customer_id = +?)`,
  stands: sql<[string, string, string], { found: 1 }>`
    select 1 as found from manual_request where of = +? and about = +? and from_at = +?
      and to_at is null`,
  make: sql`insert into manual_request (of, about, from_at, customer_namespace, customer_id, wanted, details, asked_by,
      reason, due)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
    on conflict (of, about, from_at) do update
      set to_at = null, customer_namespace = excluded.customer_namespace,
      customer_id = excluded.customer_id, wanted = excluded.wanted, details = excluded.details,
      asked_by = excluded.asked_by, reason = excluded.reason, answer = null, answered_at = null,
      operation_id = null, due = 1, gone_at = null`,
  answer: sql`update manual_request set answer = @answer, answered_at = @at, operation_id = @operationId, due = @due
    where of = @of and about = @about and wanted = @wanted and to_at is null`,
};
