import { stored } from "../ledger/database/stored.ts";
import type { ExceptionFacts } from "../report/statement/exception-row.ts";
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

/** Each record of which something was noted as done before `to` and not read back. */
export function* byHand(ledger: ReadOnlyLedger, { to }: { to: string }): Generator<ExceptionFacts, void, void> {
  const query = notReadBack(ledger)
    .select(["by_hand.stream", "by_hand.namespace", "by_hand.id", "by_hand.at", "by_hand.by", "by_hand.reason"])
    .select(["by_hand.unseen", "record.customer_namespace", "record.customer_id"])
    .where("by_hand.at", "<", to)
    .orderBy("by_hand.stream")
    .orderBy("by_hand.namespace")
    .orderBy("by_hand.id");
  for (const { stream, namespace, id, at, by, reason, unseen, ...of } of ledger.rows(query)) {
    const customer = { namespace: of.customer_namespace, id: of.customer_id };
    const row = { at, by, reason, unseen: stored<string[]>(unseen) };
    yield { kind: "by-hand", stream, key: { namespace, id }, customer, row };
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
