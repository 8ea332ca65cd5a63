/**
 * @module-tag long
 * @module-tag sized
 */
import { expect, it } from "vitest";
import { sizes } from "../support/sizes.ts";
import { roads } from "../support/world/moving-crm.ts";
import { RealHistory } from "./real-histories.ts";

const from = Number(process.env["FIRST_SEED"] ?? 1);
const seeds = Number(process.env["READ_HISTORIES"] ?? sizes.readings);

it.each(roads)(
  "what a real source has is there after the last whole reading, and nothing was taken away that was there, whatever " +
    "is edited, moved, cut and killed while it is read by %s",
  async (road) => {
    const sums = { complete: 0, resumed: 0, kills: 0, changesOnly: 0 };
    for (let seed = from; seed < from + seeds; seed += 1) {
      const lived = await RealHistory.live(road, seed, 15);
      expect(lived.wrong).toEqual([]);
      for (const name of ["complete", "resumed", "kills", "changesOnly"] as const) sums[name] += lived[name];
    }
    // So many of them have met everything.
    if (seeds < 10) return;
    for (const [name, count] of Object.entries(sums)) expect(count, name).toBeGreaterThan(0);
  },
);
