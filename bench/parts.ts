import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { measure, median } from "./measure.ts";
import { lanes } from "./road.ts";
import { measureStarts } from "./starts.ts";
import type { Starts } from "./starts.ts";

const orderSchema = z.object({ plain: z.number(), deep: z.number() });
const chainSchema = z.object({ verifiedPerSecond: z.number(), appendedPerSecond: z.number() });
const durabilitySchema = z.object({
  flushMs: z.number(),
  grouped: z.number(),
  each: z.number(),
  normal: z.number(),
});

/** Figures of single parts of the program. */
export interface Parts {
  /** Microseconds for an order of Northwind's size, and for one with packages three levels deep. */
  order: z.infer<typeof orderSchema>;
  /** Audit entries a second. */
  chain: z.infer<typeof chainSchema>;
  chainEntries: number;
  /** Milliseconds of one flush of this disk, and writing calls a second that the ledger can record in three ways. */
  durability: z.infer<typeof durabilitySchema>;
  starts: Starts;
}

export async function measureParts(work: string, rounds: number, tell: (step: string) => void): Promise<Parts> {
  const orders: Parts["order"][] = [];
  const durabilities: Parts["durability"][] = [];
  const chains: Parts["chain"][] = [];
  const chainEntries = 200_000;
  for (let number = 1; number <= rounds; number += 1) {
    tell(`parts, ${number} of ${rounds}: orders, durability, audit chain`);
    const directory = join(work, `parts-${number}`);
    mkdirSync(directory, { recursive: true });
    orders.push((await measure("subjects/order.ts", {}, orderSchema)).result);
    durabilities.push((await measure("subjects/durability.ts", { directory, lanes }, durabilitySchema)).result);
    chains.push((await measure("subjects/chain.ts", { directory, entries: chainEntries }, chainSchema)).result);
  }
  tell("starts");
  return {
    order: middleOf(orders),
    chain: middleOf(chains),
    chainEntries,
    durability: middleOf(durabilities),
    starts: await measureStarts(work, 20),
  };
}

/** The middle of each figure. */
function middleOf<Figures extends Record<string, number>>(all: readonly Figures[]): Figures {
  const [first] = all;
  if (first === undefined) throw new Error("nothing was measured");
  const entries = Object.keys(first).map((name) => [name, median(all.map((figures) => figures[name] ?? Number.NaN))]);
  return Object.fromEntries(entries) as Figures;
}
