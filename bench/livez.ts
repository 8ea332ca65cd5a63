import type { ChildProcess } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { z } from "zod";
import { type Figure, count, judged } from "./figure.ts";
import { median } from "./measure.ts";
import { type Measuring, eachProgram, ofPrograms } from "./measuring.ts";
import { makeLedger, serve } from "./served-pages.ts";

/**
 * Milliseconds until `/livez` answered, by itself and while others ask without signing in, a value for each time; and
 * how much of a core the program needs meanwhile.
 */
const taken = z.object({
  requests: z.string(),
  rate: z.number(),
  alone: z.array(z.number()),
  beside: z.array(z.number()),
  cores: z.number(),
});
export const livezSchema = ofPrograms(z.array(taken));
export type Livez = z.infer<typeof livezSchema>;

const customers = 10_000;
/** The name of the pages, under which people sign in. */
const host = "crm-sync.example.com";
const perSecond = 200;
/** Whether it is alive is asked so often, a while apart. */
const asked = 60;
const apartMs = 50;

interface Unsigned {
  path: string;
  method?: "GET" | "POST";
  headers?: Record<string, string>;
}

/** What anybody can ask for: a path, and what is sent there. */
const unsigned: Readonly<Record<string, Unsigned>> = {
  "the page to sign in": { path: "/login" },
  "a page, and is sent to sign in": { path: "/today", headers: { accept: "text/html" } },
  "a page, with a session that nobody has": {
    path: "/today",
    headers: { accept: "text/html", cookie: `__Host-crm-sync=${"a".repeat(64)}` },
  },
  "a link to sign in that nobody made": { path: `/login/link/${"b".repeat(64)}` },
  "the form of such a link": {
    path: `/login/link/${"c".repeat(64)}`,
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      cookie: `__Host-crm-sync-sign-in=${"d".repeat(64)}`,
    },
  },
  health: { path: "/healthz" },
  "metrics, without the token": { path: "/metrics" },
};

/** Asks whether the program is alive, by itself and beside each kind of request, 200 of these a second. */
export async function measureLivez(measuring: Measuring, rounds: number) {
  return await eachProgram(measuring.programs, async (program, name) => {
    const tell = (step: string): void => measuring.tell(`livez, ${name}: ${step}`);
    const work = join(measuring.work, `livez-${name}`);
    const configuration = await makeLedger(program, work, customers, tell);
    const { url, child } = await serve(program, configuration, { CRM_SYNC__serve__publicUrl: `https://${host}` });
    try {
      const all: z.infer<typeof taken>[] = [];
      for (const [requests, one] of Object.entries(unsigned)) {
        const [alone, beside]: [number[], number[]] = [[], []];
        const sum = { done: 0, seconds: 0, cpu: 0 };
        for (let round = 0; round < rounds; round += 1) {
          tell(`${requests}, ${round + 1} of ${rounds}`);
          alone.push(...(await alive(url)));
          const [flood, cpu] = [floodOf(url, one), cpuSeconds(child)];
          beside.push(...(await alive(url)));
          sum.cpu += cpuSeconds(child) - cpu;
          const ended = await flood.end();
          sum.done += ended.done;
          sum.seconds += ended.seconds;
        }
        all.push({ requests, rate: sum.done / sum.seconds, alone, beside, cores: sum.cpu / sum.seconds });
      }
      return all;
    } finally {
      child.kill("SIGTERM");
      rmSync(work, { recursive: true, force: true });
    }
  });
}

async function alive(url: string): Promise<number[]> {
  const agent = new Agent({ connections: 1 });
  const ms: number[] = [];
  for (let time = 0; time < asked; time += 1) {
    const started = performance.now();
    const { statusCode, body } = await request(`${url}/livez`, { dispatcher: agent });
    await body.dump();
    if (statusCode !== 200) throw new Error(`/livez was answered with ${statusCode}`);
    ms.push(performance.now() - started);
    await sleep(apartMs);
  }
  await agent.close();
  return ms;
}

/** Sends so many a second, whether earlier ones were answered or not. */
function floodOf(url: string, { path, method = "GET", headers = {} }: Unsigned) {
  const agent = new Agent({ connections: perSecond });
  const started = performance.now();
  const open = new Set<Promise<void>>();
  let sent = 0;
  let done = 0;
  const one = async (): Promise<void> => {
    const { body } = await request(`${url}${path}`, { dispatcher: agent, method, headers: { host, ...headers } });
    await body.dump();
    done += 1;
  };
  const timer = setInterval(() => {
    for (const due = ((performance.now() - started) * perSecond) / 1_000; sent < due; sent += 1) {
      const asking = one().catch(() => {});
      open.add(asking);
      void asking.finally(() => open.delete(asking));
    }
  }, 5);
  return {
    /** How many were answered within which time. */
    end: async (): Promise<{ done: number; seconds: number }> => {
      clearInterval(timer);
      const answered = { done, seconds: (performance.now() - started) / 1_000 };
      await agent.destroy();
      await Promise.all(open);
      return answered;
    },
  };
}

/** User and system time of the program so far, in ticks of a hundredth of a second. */
function cpuSeconds({ pid }: ChildProcess): number {
  // Behind the name of the program, which may hold a blank.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /su, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The time that 99 of 100 do not reach. */
const late = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? 0;

/** T11: that the program has time to answer whether it is alive, whatever others ask. */
export function livezFigures(all: z.infer<typeof taken>[] = []): Figure[] {
  return all.map(({ requests, rate, alone, beside, cores }) =>
    judged(
      {
        target: "T11",
        what: `${count(rate)} a second of ${requests}`,
        figure:
          `/livez in ${median(beside).toFixed(1)} ms, late ${late(beside).toFixed(1)}; ` +
          `by itself ${median(alone).toFixed(1)}, late ${late(alone).toFixed(1)}`,
        // A machine that has other things to do delays both; what the program needs stays the same.
        wanted: "≤ 0.5 × the time of a core",
      },
      [cores],
      (share) => share <= 0.5,
    ),
  );
}
