import { rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Figure, count, judged } from "./figure.ts";
import { median } from "./measure.ts";
import type { Measuring } from "./measuring.ts";
import { ask, makeLedger, pages, serve } from "./served-pages.ts";

/** How much longer each page takes with forty times the customers: what reads rows that it does not show grows. */
export const pageGrowthSchema = z.object({
  customers: z.object({ few: z.int(), many: z.int() }),
  pages: z.array(z.object({ page: z.string(), growth: z.array(z.number()) })),
});
export type PageGrowth = z.infer<typeof pageGrowthSchema>;

const customers = { few: 1_500, many: 60_000 };
const asked = 15;
/** Where a page seems to grow, it is asked for so often before that is believed. */
const mostAsked = 75;
/** A page that counts all records takes several times as long. */
const mostGrowth = 1.5;

/** Asks two programs in turns for each page, one with forty times the customers of the other. */
export async function measurePageGrowth({ work, tell, programs }: Measuring): Promise<PageGrowth> {
  const directory = join(work, "page-growth");
  const served = async (size: keyof typeof customers) => {
    const configuration = await makeLedger(programs.now, join(directory, size), customers[size], (step) =>
      tell(`pages of ${size} customers: ${step}`),
    );
    return await serve(programs.now, configuration);
  };
  const [few, many] = [await served("few"), await served("many")];
  try {
    const taken: PageGrowth["pages"] = [];
    for (const [page, { path }] of Object.entries(pages)) {
      // The two ledgers share no run that both would show at this length.
      if (page === "run") continue;
      const url = path({ run: "" });
      if ((await ask(few.url + url)) === undefined || (await ask(many.url + url)) === undefined) continue;
      const growth: number[] = [];
      while (growth.length < asked || (growth.length < mostAsked && median(growth) > mostGrowth)) {
        const small = (await ask(few.url + url)) ?? 0;
        growth.push(((await ask(many.url + url)) ?? 0) / small);
      }
      taken.push({ page, growth });
    }
    return { customers, pages: taken };
  } finally {
    for (const { child } of [few, many]) child.kill("SIGTERM");
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Pages that take more than half as long again with forty times the customers. */
export function grownPages({ pages: taken }: PageGrowth): string[] {
  return taken.filter(({ growth }) => median(growth) > mostGrowth).map(({ page }) => page);
}

/** T10: that no page takes longer because there are more customers. */
export function pageGrowthFigures(taken: PageGrowth | undefined): Figure[] {
  if (taken === undefined) return [];
  return taken.pages.map(({ page, growth }) =>
    judged(
      {
        target: "T10",
        what: `page ${page}, ${count(taken.customers.many)} customers beside ${count(taken.customers.few)}`,
        figure: `asked for ${growth.length} times`,
        wanted: `≤ ${mostGrowth} × as long`,
      },
      growth,
      (middle) => middle <= mostGrowth,
    ),
  );
}
