import { sql } from "kysely";
import { toInstant } from "../base/clock.ts";
import { removedBy } from "../engine/model/registry.ts";
import { takenThings } from "../engine/model/taking.ts";
import type { TakenThing } from "../engine/model/taking.ts";
import { allowedOfAll } from "../engine/plan/limits.ts";
import type { TakingLimits } from "../engine/plan/limits.ts";
import { locksByType } from "../resources/order/state.ts";
import type { TakenFacts } from "../report/facts.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

const hourMs = 60 * 60 * 1_000;
const windows = [
  { scope: "day", ms: 24 * hourMs },
  { scope: "week", ms: 7 * 24 * hourMs },
] as const;

/**
 * How much of the limits of 24 hours and of 7 days is used, of each kind of thing of which something was taken away in
 * them without a person's approval, or may have been. `now` in epoch milliseconds.
 */
export async function taken(
  ledger: ReadOnlyLedger,
  limits: Pick<TakingLimits, "day" | "week">,
  now: number,
): Promise<TakenFacts[]> {
  const facts: TakenFacts[] = [];
  for (const { scope, ms } of windows) {
    const sums = await sumsSince(ledger, toInstant(now - ms));
    for (const thing of takenThings) {
      const count = sums.get(thing) ?? 0;
      if (count === 0) continue;
      facts.push({
        thing,
        within: scope,
        count,
        allowed: allowedOfAll(limits[scope], (await live(ledger, thing)) + count),
      });
    }
  }
  return facts;
}

/** The condition is that of the index, word for word. */
const counts = sql<boolean>`(takes_away > 0 or weight is not null) and approved = 0
  and state in ('sending', 'unknown', 'parked', 'done')`;

async function sumsSince({ db }: ReadOnlyLedger, since: string): Promise<ReadonlyMap<TakenThing, number>> {
  const rows = await db
    .selectFrom("operation")
    .select(["kind", sql<number>`sum(takes_away)`.as("count")])
    .select(sql<number>`sum(coalesce(weight ->> '$.seats', 0))`.as("seats"))
    .where(counts)
    .where("updated_at", ">=", since)
    .groupBy("kind")
    .execute();
  const sums = new Map<TakenThing, number>();
  const add = (thing: TakenThing, count: number): void => void sums.set(thing, (sums.get(thing) ?? 0) + count);
  for (const { kind, count, seats } of rows) {
    const thing = removedBy({ kind });
    if (thing !== undefined) add(thing, count);
    if (thing !== "seats") add("seats", seats);
  }
  return sums;
}

/** How many of a thing stand in all, by the tallies; what they do not know is counted order by order. */
async function live({ db }: ReadOnlyLedger, thing: TakenThing): Promise<number> {
  const tallies = await db.selectFrom("tally").select(["name", "count"]).execute();
  const of = (name: string): number => tallies.find((row) => row.name === name)?.count ?? 0;
  const known = new Map<TakenThing, number>([
    ["seats", of("assignment")],
    ["products", of("product")],
    ["accounts", of("staff_link") - of("staff_link adopted")],
  ]);
  const count = known.get(thing);
  if (count !== undefined) return count;
  const { rows } = await sql<{ count: number }>`${sql.raw(locksByType)}`.execute(db);
  return rows[0]?.count ?? 0;
}
