import type { RecordKey } from "../../crm/model.ts";
import type { OperationName, RecordReference } from "../../engine/model/resource.ts";
import type { Rejection } from "../../engine/plan/input.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import type { RejectionTable } from "./tables.ts";
import type { Row } from "../tables.ts";

/** M1 may reject a person in words, without a code (60027). Such a person is sent again this often, once a run. */
const mostTries = 3;

export interface NewRejections {
  customer: RecordKey;
  kind: OperationName;
  settings: string;
  parts: readonly { record: RecordReference; hash: string; code: string; reason: string; shared: boolean }[];
}

type Forgiven = Pick<NewRejections, "kind" | "customer"> & { records: readonly RecordReference[] };

type RejectionRow = Omit<RejectionTable, "customer_namespace" | "customer_id" | "version" | "at" | "asked" | "tries">;

/** Rejections, which stop the same call. Writes run inside the writer's transaction. */
export class RejectionTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  any(): boolean {
    return this.#statements.any.get() !== undefined;
  }

  /** Rejections that still count: the record is unchanged, and nobody asked for another try. */
  of(customer: RecordKey): Rejection[] {
    return this.#statements.of.all(customer.namespace, customer.id).map((row) => ({
      record: { stream: row.stream, namespace: row.namespace, id: row.record_id },
      kind: row.kind,
      hash: row.hash,
      settings: row.settings,
      operationId: row.operation_id,
      code: row.code,
      reason: row.reason,
      shared: row.shared === 1,
    }));
  }

  add(operationId: string, entry: NewRejections, at: string): void {
    for (const part of entry.parts) {
      const { stream, namespace, id } = part.record;
      const version = this.#statements.version.get(stream, namespace, id)?.version ?? 0;
      this.#statements.outdated.run(stream, namespace, id, entry.kind, version);
      this.#statements.add.run({
        stream,
        namespace,
        id,
        kind: entry.kind,
        hash: part.hash,
        customerNamespace: entry.customer.namespace,
        customerId: entry.customer.id,
        version,
        settings: entry.settings,
        operation: operationId,
        code: part.code,
        reason: part.reason,
        at,
        shared: part.shared ? 1 : 0,
      });
    }
  }

  /** Forgets earlier rejections after a call of that kind succeeded, except of records that this call rejected. */
  forget({ kind, customer, records }: Forgiven, refused: NewRejections["parts"] = []): void {
    for (const { stream, namespace, id } of records) {
      const again = refused.some(({ record }) => record.namespace === namespace && record.id === id);
      if (!again) this.#statements.forget.run(stream, namespace, id, kind, customer.namespace, customer.id);
    }
  }

  /** Allows another try of rejections that may pass, up to `mostTries`. Returns their records. */
  tryAgain(): RecordReference[] {
    return this.#statements.askPassing.all(mostTries);
  }

  ask(scope: { customer?: RecordKey; order?: RecordKey; source?: string }): void {
    const run = this.#statements;
    if (scope.customer !== undefined) run.askCustomer.run(scope.customer.namespace, scope.customer.id);
    if (scope.order !== undefined) run.askOrder.run(scope.order.namespace, scope.order.id);
    if (scope.source !== undefined) run.askSource.run(scope.source);
  }
}

const texts = {
  // A deleted record has changed, although its version has not.
  of: sql<[string, string], RejectionRow>`
    select j.stream, j.namespace, j.record_id, j.kind, j.hash, j.settings, j.operation_id, j.code, j.reason,
      j.shared from rejection j
      left join record r on r.stream = j.stream and r.namespace = j.namespace and r.id = j.record_id
      where j.customer_namespace = +? and j.customer_id = +? and j.asked = 0 and coalesce(r.version, 0) = j.version
        and (r.state is not 'absent' or r.changed_at <= j.at)
      order by j.at, j.operation_id`,
  any: sql<[], { 1: 1 }>`select 1 from rejection limit 1`,
  version: sql<[string, string, string], Row<"record", "version">>`
    select version from record where stream = +? and namespace = +? and id = +?`,
  outdated: sql`delete from rejection where stream = +? and namespace = +? and record_id = +? and kind = +?
    and version <> ?`,
  add: sql`insert into rejection (stream, namespace, record_id, kind, hash, customer_namespace, customer_id, version,
      settings, operation_id, code, reason, at, shared)
    values (@stream, @namespace, @id, @kind, @hash, @customerNamespace, @customerId, @version, @settings, @operation,
      @code, @reason, @at, @shared)
    on conflict (stream, namespace, record_id, kind, hash) do update
      set customer_namespace = excluded.customer_namespace,
      customer_id = excluded.customer_id, version = excluded.version, settings = excluded.settings,
      operation_id = excluded.operation_id,
      code = excluded.code, reason = excluded.reason, at = excluded.at, shared = excluded.shared, asked = 0,
      tries = case when rejection.code = excluded.code and rejection.settings = excluded.settings
        then rejection.tries + 1 else 1 end`,
  forget: sql`delete from rejection as j where stream = +? and namespace = +? and record_id = +? and kind = +?
    and (customer_namespace = +? and customer_id = +? or not exists (select 1 from record r
      where r.stream = j.stream and r.namespace = j.namespace and r.id = j.record_id and r.version = j.version))`,
  askCustomer: sql`update rejection set asked = 1, tries = 0 where customer_namespace = +? and customer_id = +?
    and asked = 0`,
  askOrder: sql`update rejection set asked = 1, tries = 0 where stream = 'orders' and namespace = +? and record_id = +?
    and asked = 0`,
  askSource: sql`update rejection indexed by rejection_standing set asked = 1, tries = 0
    where asked = 0 and exists (select 1 from record r where r.stream = rejection.stream
    and r.namespace = rejection.namespace and r.id = rejection.record_id and r.source = +?)`,
  askPassing: sql<[number], RecordReference>`update rejection indexed by rejection_passing set asked = 1
    where asked = 0 and code = 'staff.refused' and tries < ? returning stream, namespace, record_id as id`,
};
