import { isOperationName, removedBy } from "../../engine/model/registry.ts";
import { noThings } from "../../engine/model/taking.ts";
import type { TakenThing } from "../../engine/model/taking.ts";

/** How many things were removed, of counts by kind. Seats go with an asset that is deleted. */
export function takenOf(rows: readonly { kind: string; count: number; seats: number }[]): Record<TakenThing, number> {
  const taken = noThings();
  for (const { kind, count, seats } of rows) {
    const thing = isOperationName(kind) ? removedBy({ kind }) : undefined;
    if (thing !== undefined) taken[thing] += count;
    if (thing !== "seats") taken.seats += seats;
  }
  return taken;
}
