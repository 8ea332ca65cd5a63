import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { benchPath } from "./measure.ts";
import type { Figure, Ratios } from "./targets.ts";
import { times } from "./targets.ts";

const baselineSchema = z.strictObject({
  records: z.int(),
  ratios: z.strictObject({
    firstToFloor: z.number(),
    firstToScript: z.number(),
    cpuToFloor: z.number(),
    unchangedToFirst: z.number(),
  }),
});

const path = benchPath("baseline.json");

/** More than this share of the ratio to the floor may not be lost. */
const mostLost = 0.15;

/** T9: the ratio to the floor against the one that is kept, and whether fetch was on the way of a record. */
export function baselineFigures(
  ratios: Ratios,
  records: number,
  fetched: number,
): { figures: Figure[]; lost: boolean } {
  const figures: Figure[] = [
    {
      target: "T9",
      what: "calls made by fetch() on the way of a record",
      figure: String(fetched),
      wanted: "0",
      ratio: "",
      verdict: fetched === 0 ? "met" : "below",
    },
  ];
  const what = "ratio to the floor against the kept one";
  const wanted = "no loss over 15 %";
  if (!existsSync(path)) {
    const ratio = "none is kept yet (--write-baseline)";
    figures.push({ target: "T9", what, figure: undefined, wanted, ratio, verdict: "not measured" });
    return { figures, lost: false };
  }
  const kept = baselineSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  if (kept.records !== records) {
    const ratio = `the kept one is of ${kept.records} records`;
    figures.push({ target: "T9", what, figure: undefined, wanted, ratio, verdict: "not measured" });
    return { figures, lost: false };
  }
  const share = ratios.firstToFloor / kept.ratios.firstToFloor;
  const lost = share < 1 - mostLost;
  const figure = `${times(ratios.firstToFloor)} (kept: ${times(kept.ratios.firstToFloor)})`;
  figures.push({
    target: "T9",
    what,
    figure,
    wanted,
    ratio: `${times(share)} the kept one`,
    verdict: lost ? "below" : "met",
  });
  return { figures, lost };
}

export function writeBaseline(ratios: Ratios, records: number): void {
  const rounded = Object.fromEntries(Object.entries(ratios).map(([name, value]) => [name, Number(value.toFixed(3))]));
  writeFileSync(path, `${JSON.stringify({ records, ratios: rounded }, null, 2)}\n`);
}
