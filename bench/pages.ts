import type { ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { z } from "zod";
import { writeConfiguration } from "./configuration.ts";
import { writeCustomers } from "./customers.ts";
import { type Measuring, eachProgram } from "./measuring.ts";
import { exportPath, lanes, programPass } from "./passage.ts";
import type { Program } from "./program.ts";
import { ask, makeLedger, pages, serve } from "./served-pages.ts";

/** Pages of a large ledger, each beside a bare query of the rows that it shows. Milliseconds; megabytes. */
export const pagesSchema = z.object({
  customers: z.int(),
  pages: z.array(z.object({ page: z.string(), ms: z.array(z.number()), bareMs: z.array(z.number()) })),
  /** Resident size of the program before and after so many pages. */
  memory: z.object({ before: z.number(), after: z.number(), asked: z.int() }),
  /** Seconds of a first run by itself, and beside somebody who looks at a page of its ledger each second. */
  runs: z.array(z.object({ alone: z.number(), watched: z.number() })),
});
export type Pages = z.infer<typeof pagesSchema>;

const pagesAsked = 1_000;
const runRecords = 6_000;
const mostRuns = 5;

/** Asks for each page so many times of a program that serves a ledger of so many customers, each with an order. */
export async function measurePages(measuring: Measuring, customers: number, rounds: number) {
  return await eachProgram(measuring.programs, async (program, name): Promise<Pages> => {
    const tell = (step: string): void => measuring.tell(`pages, ${name}: ${step}`);
    const work = join(measuring.work, `pages-${name}`);
    const configuration = await makeLedger(program, work, customers, tell);
    const database = new Database(join(work, "ledger/ledger.db"), { readonly: true });
    const run = database.prepare<[], string>("select id from run order by started_at desc").pluck().get() ?? "";
    const served = await serve(program, configuration);
    try {
      const taken: Pages["pages"] = [];
      for (const [page, { path, rows }] of Object.entries(pages)) {
        tell(page);
        const statement = database.prepare(rows({ run }));
        const url = `${served.url}${path({ run })}`;
        // A page that is not there is not measured.
        if ((await ask(url)) === undefined) continue;
        const [ms, bareMs]: [number[], number[]] = [[], []];
        for (let round = 0; round < rounds; round += 1) {
          ms.push((await ask(url)) ?? 0);
          const started = performance.now();
          statement.all();
          bareMs.push(performance.now() - started);
        }
        taken.push({ page, ms, bareMs });
      }
      tell(`memory over ${pagesAsked} pages`);
      const before = megabytesOf(served.child);
      for (let asked = 0; asked < pagesAsked; asked += 1) {
        const { path } = Object.values(pages)[asked % Object.keys(pages).length] ?? { path: () => "/today" };
        await ask(`${served.url}${path({ run })}`);
      }
      const memory = { before, after: megabytesOf(served.child), asked: pagesAsked };
      served.child.kill("SIGTERM");
      const runs: Pages["runs"] = [];
      for (let round = 1; round <= Math.min(rounds, mostRuns); round += 1) {
        tell(`a run, by itself and watched, ${round}`);
        // In turns, so that what a first one finds cold is not always the same.
        const before = round % 2 === 0 ? await runSeconds(program, work, true) : undefined;
        const alone = await runSeconds(program, work, false);
        runs.push({ alone, watched: before ?? (await runSeconds(program, work, true)) });
      }
      return { customers, pages: taken, memory, runs };
    } finally {
      served.child.kill("SIGTERM");
      database.close();
      rmSync(work, { recursive: true, force: true });
    }
  });
}

/** Seconds of a first run beside a daemon; `watched`: its page Today is asked for each second. */
async function runSeconds(program: Program, work: string, watched: boolean): Promise<number> {
  const directory = join(work, "run");
  const csv = exportPath(work, runRecords);
  writeCustomers(csv, runRecords);
  mkdirSync(directory, { recursive: true });
  const configuration = writeConfiguration(directory, { baseUrl: "http://127.0.0.1:9", lanes, source: dirname(csv) });
  const served = await serve(program, configuration);
  const looking = setInterval(() => {
    if (watched) void ask(`${served.url}/today`).catch(() => {});
  }, 1_000);
  try {
    return (await programPass(program, "customers", { csv, records: runRecords, directory })).wallSeconds;
  } finally {
    clearInterval(looking);
    served.child.kill("SIGTERM");
    rmSync(directory, { recursive: true, force: true });
  }
}

function megabytesOf({ pid }: ChildProcess): number {
  const kilobytes = /VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes ?? 0) / 1_024;
}
