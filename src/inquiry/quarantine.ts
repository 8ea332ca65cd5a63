import { sql } from "kysely";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { QuarantineTable } from "../ledger/records/tables.ts";
import type { QuarantineFacts } from "../report/facts.ts";
import { keyOrNull, privateBody, type ReadOnlyLedger } from "./read-only-ledger.ts";

export interface QuarantineGroup {
  source: string;
  stream: Stream;
  code: string;
}

/** Waiting rows by reason, oldest first. The cost does not grow with resolved rows. */
export function quarantineGroups(
  ledger: ReadOnlyLedger,
): Promise<(QuarantineGroup & { count: number; oldest: string })[]> {
  return ledger.db
    .selectFrom("quarantine")
    .select(({ fn }) => [
      "source",
      "stream",
      "code",
      fn.countAll<number>().as("count"),
      fn.min("first_seen").as("oldest"),
    ])
    .where("state", "<>", sql.lit("resolved"))
    .groupBy(["source", "stream", "code"])
    .orderBy("oldest")
    .orderBy("code")
    .execute();
}

export async function quarantineOfGroup(
  ledger: ReadOnlyLedger,
  group: QuarantineGroup,
  { after, limit }: { after: Pick<QuarantineFacts, "firstSeen" | "id"> | undefined; limit: number },
): Promise<QuarantineFacts[]> {
  let query = ledger.db
    .selectFrom("quarantine")
    .selectAll()
    .where("state", "<>", sql.lit("resolved"))
    .where("source", "=", group.source)
    .where("stream", "=", group.stream)
    .where("code", "=", group.code);
  if (after !== undefined)
    query = query.where((of) => of(of.refTuple("first_seen", "id"), ">", of.tuple(after.firstSeen, after.id)));
  const rows = await query.orderBy("first_seen").orderBy("id").limit(limit).execute();
  return rows.map(quarantineFacts);
}

export interface QuarantineFilter {
  source?: string;
  stream?: Stream;
  code?: string;
  customer?: RecordKey;
  record?: { stream: Stream; key: RecordKey };
  limit?: number;
}

export function* quarantine(
  ledger: ReadOnlyLedger,
  filter: QuarantineFilter = {},
): Generator<QuarantineFacts, void, void> {
  let query = ledger.db
    .selectFrom("quarantine")
    .selectAll()
    .where("state", "<>", sql.lit("resolved"))
    .orderBy("source")
    .orderBy("stream")
    .orderBy("first_seen")
    .orderBy("id");
  if (filter.source !== undefined) query = query.where("source", "=", filter.source);
  if (filter.stream !== undefined) query = query.where("stream", "=", filter.stream);
  if (filter.code !== undefined) query = query.where("code", "=", filter.code);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  if (filter.customer !== undefined) {
    query = query
      .where("customer_namespace", "=", filter.customer.namespace)
      .where("customer_id", "=", filter.customer.id);
  }
  if (filter.record !== undefined) {
    query = query
      .where("stream", "=", filter.record.stream)
      .where("namespace", "=", filter.record.key.namespace)
      .where("record_id", "=", filter.record.key.id);
  }
  for (const row of ledger.rows(query)) yield quarantineFacts(row);
}

export async function quarantineById(ledger: ReadOnlyLedger, id: string): Promise<QuarantineFacts | undefined> {
  const row = await ledger.db.selectFrom("quarantine").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : quarantineFacts(row);
}

/** The raw form, with secrets blanked; it contains personal data. Undefined if it was erased. */
export async function rawForm(ledger: ReadOnlyLedger, id: string): Promise<string | undefined> {
  const row = await quarantineById(ledger, id);
  return row === undefined ? undefined : await privateBody(ledger, row.rawRef);
}

export function quarantineFacts(row: QuarantineTable): QuarantineFacts {
  return {
    id: row.id,
    source: row.source,
    stream: row.stream,
    key: keyOrNull(row.namespace, row.record_id),
    customer: keyOrNull(row.customer_namespace, row.customer_id),
    place: row.place,
    field: row.field,
    code: row.code,
    message: row.message,
    expected: row.expected,
    firstSeen: row.first_seen,
    lastSeen: row.last_seen,
    state: row.state,
    resolvedAt: row.resolved_at,
    resolution: row.resolution,
    rawRef: row.raw_ref,
  };
}
