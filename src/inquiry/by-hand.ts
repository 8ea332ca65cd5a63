import { sql } from "kysely";
import type { Stream } from "../crm/model.ts";
import { stored } from "../ledger/database/damage.ts";
import type { FoundException } from "../report/statement/exception-row.ts";
import type { StatusFacts } from "../report/status.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** What people took note of, as long as the record stands as it did then. */
export function notedByHand({ db }: Pick<ReadOnlyLedger, "db">) {
  return db
    .selectFrom("by_hand")
    .innerJoin("record", (join) =>
      join
        .onRef("record.stream", "=", "by_hand.stream")
        .onRef("record.namespace", "=", "by_hand.namespace")
        .onRef("record.id", "=", "by_hand.id")
        .onRef("record.body_hash", "=", "by_hand.body_hash"),
    )
    .where("by_hand.ended_at", "is", null);
}

/** What of that counts by somebody's word alone. */
function notReadBack(ledger: Pick<ReadOnlyLedger, "db">) {
  return notedByHand(ledger).where("by_hand.unseen", "<>", "[]");
}

interface ByHandRow {
  stream: Stream;
  namespace: string;
  id: string;
  at: string;
  by: string;
  reason: string;
  unseen: string;
  customer_namespace: string;
  customer_id: string;
  ended_at: string | null;
}

/** Each record of which something was noted as done and not read back, and was so at some moment of the time. */
export function* byHand(
  ledger: ReadOnlyLedger,
  { from, to }: { from: string; to: string },
): Generator<FoundException, void, void> {
  const query = sql<ByHandRow>`
    select * from (
      select b.stream, b.namespace, b.id, b.at, b."by", b.reason, b.unseen, r.customer_namespace, r.customer_id,
        coalesce(b.ended_at, iif(r.body_hash = b.body_hash, null, (select min(v.from_at) from record_version v
          where v.stream = b.stream and v.namespace = b.namespace and v.id = b.id and v.from_at > b.at))) as ended_at
      from by_hand b join record r on r.stream = b.stream and r.namespace = b.namespace and r.id = b.id
      where b.unseen <> '[]' and b.at < ${to})
    where ended_at is null or ended_at >= ${from}
    order by stream, namespace, id, at`;
  for (const row of ledger.rows({ compile: () => query.compile(ledger.db) })) {
    const { stream, namespace, id, at, by, reason, unseen, ended_at: end } = row;
    const customer = { namespace: row.customer_namespace, id: row.customer_id };
    const told = { at, by, reason, unseen: stored<string[]>(unseen) };
    const facts = { kind: "by-hand" as const, stream, key: { namespace, id }, customer, row: told };
    yield { facts, ended: end === null ? null : { at: end, how: "it stands by that no more" } };
  }
}

/** How many records of each stream that are, and since when the first of them is so. */
export async function byHandCounts(ledger: ReadOnlyLedger): Promise<NonNullable<StatusFacts["byHand"]>> {
  return await notReadBack(ledger)
    .select(["by_hand.stream", ({ fn }) => fn.countAll<number>().as("count")])
    .select(({ fn }) => fn.min("by_hand.at").as("oldest"))
    .groupBy("by_hand.stream")
    .orderBy("by_hand.stream")
    .execute();
}
