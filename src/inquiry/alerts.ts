import type { Json } from "../base/canonical-json.ts";
import { stored } from "../ledger/database/damage.ts";
import type { DeliveryFacts } from "../report/facts.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** What stood at the last look, what each channel told of it last, and how channels and switches are doing. */
export interface AlertRows {
  standing: { key: string; since: string; body: Json }[];
  told: { channel: string; key: string; body: Json; toldAt: string }[];
  deliveries: DeliveryFacts[];
}

/** The alerts as the ledger has them; which channels there are, the configuration knows. */
export async function alerts({ db }: ReadOnlyLedger): Promise<AlertRows> {
  const standing = await db
    .selectFrom("alert")
    .select(["key", "since", "body"])
    .orderBy("since")
    .orderBy("key")
    .execute();
  const told = await db
    .selectFrom("alert_told")
    .select(["channel", "key", "body", "told_at as toldAt"])
    .orderBy("channel")
    .orderBy("key")
    .execute();
  return {
    standing: standing.map((row) => ({ ...row, body: stored<Json>(row.body) })),
    told: told.map((row) => ({ ...row, body: stored<Json>(row.body) })),
    deliveries: await deliveries({ db }),
  };
}

/** How channels and dead man's switches are doing. */
export async function deliveries({ db }: Pick<ReadOnlyLedger, "db">): Promise<DeliveryFacts[]> {
  return await db
    .selectFrom("delivery")
    .select(["kind", "name", "done_at as doneAt", "problem", "failing_since as failingSince"])
    .orderBy("kind")
    .orderBy("name")
    .execute();
}
