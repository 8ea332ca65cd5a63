import { sql } from "kysely";
import type { SourceReadTable } from "../ledger/records/tables.ts";
import { judgementOf } from "../report/absence.ts";
import type { AbsenceFacts } from "../report/absence.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { readFacts } from "./runs.ts";

/** Whether absence is judged, for each configured stream of a source. */
export async function absence(ledger: ReadOnlyLedger): Promise<AbsenceFacts[]> {
  const { db } = ledger;
  const streams = await db.selectFrom("source_stream").select(["source", "stream"]).execute();
  const missing = await db
    .selectFrom("record")
    .select(["source", "stream", sql<number>`count(*)`.as("count"), sql<string | null>`min(missed_since)`.as("since")])
    .where(sql<boolean>`missed > 0 and state <> 'absent'`)
    .groupBy(["source", "stream"])
    .execute();
  const facts: AbsenceFacts[] = [];
  for (const { source, stream } of streams) {
    const newest = async (wholeOfRun: boolean): Promise<SourceReadTable | undefined> => {
      let query = db.selectFrom("source_read").selectAll().where("source", "=", source).where("stream", "=", stream);
      if (wholeOfRun) query = query.where(sql<boolean>`complete = 1 and whole = 1`).where(sql<boolean>`${ofRun}`);
      return await query.orderBy("number", "desc").limit(1).executeTakeFirst();
    };
    const last = await newest(false);
    const whole = await newest(true);
    const found = missing.find((row) => row.source === source && row.stream === stream);
    facts.push({
      source,
      stream,
      ...judgementOf(
        last === undefined ? undefined : readFacts(last),
        whole === undefined ? undefined : readFacts(whole),
      ),
      lastWhole: whole?.finished_at ?? null,
      missing: found?.count ?? 0,
      since: found?.since ?? null,
    });
  }
  return facts;
}

/** A plan's read judges nothing. */
const ofRun = sql`not exists (select 1 from run where run.id = source_read.run_id and run.kind = 'plan')`;
