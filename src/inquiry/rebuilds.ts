import { z } from "zod";
import { stored } from "../ledger/database/stored.ts";
import { neverRebuilt } from "../report/rebuild.ts";
import type { RebuildPart } from "../report/statement/rebuild.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

const things = z.array(z.object({ record: z.string(), why: z.string() })).default([]);
const summary = z.object({ lost: things, assumed: things, left: things, gap: z.unknown().optional() });

/** What the rebuilds of a time (`from` belongs to it, `to` does not) could not bring back, run by run. */
export function* rebuilds(
  ledger: ReadOnlyLedger,
  time: { from: string; to: string },
): Generator<RebuildPart, void, void> {
  const query = ledger.db
    .selectFrom("run")
    .select(["id", "started_at", "summary"])
    .where("kind", "=", "rebuild")
    .where("finished_at", "is not", null)
    .where("started_at", ">=", time.from)
    .where("started_at", "<", time.to)
    .orderBy("started_at")
    .orderBy("id");
  for (const { id: run, started_at: at, summary: text } of ledger.rows(query)) {
    const found = summary.safeParse(text === null ? null : stored(text));
    if (!found.success) continue;
    for (const part of ["lost", "assumed", "left"] as const)
      for (const { record, why } of found.data[part]) yield { run, at, part, record, why };
    for (const why of neverRebuilt(found.data.gap !== undefined && found.data.gap !== null))
      yield { run, at, part: "never", record: null, why };
  }
}
