import { fetch } from "undici";
import { company } from "../company.ts";
import type { Life, Living } from "../life.ts";
import { elements, member, parseExactly, type Json } from "../operations.ts";

/** The life's own job at five past each hour, and no other. */
const jobs = `serve: { port: 0, metrics: { open: true } }
jobs:
  everything: { kind: sync, streams: [customers, orders, staff], schedule: "5 * * * *" }
  customers-and-orders: { schedule: null }
  staff: { schedule: null }
  verify: { schedule: null }
  monthly-report: { schedule: null }
`;

const pause = 50;
const longest = 30_000;

type Daemon = Awaited<ReturnType<Living["starts"]>>;

async function page(daemon: Daemon, path: string): Promise<string> {
  const [, base = ""] = /health at (?<base>\S+)\/healthz/u.exec(daemon.said()) ?? [];
  return await (await fetch(base + path)).text();
}

/** What `/healthz` says as soon as it says so of the job. */
async function healthOnce(daemon: Daemon, isSo: (job: Json) => boolean): Promise<Json> {
  for (const end = performance.now() + longest; performance.now() < end;) {
    const health = parseExactly(await page(daemon, "/healthz"));
    if (elements(member(health, "jobs")).some(isSo)) return health;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new Error("it was never so");
}

const isKnown = (job: Json): boolean => member(job, "lastSlot") !== null;
const isDone = (job: Json): boolean => member(job, "lastRun", "state") === "done" && member(job, "running") === false;

export const lives: Life[] = [
  {
    name: "daemon",
    async live(life) {
      Object.assign(life.company, company(2, 1));
      life.configuration.jobs = jobs;
      life.write();
      // The first start learns of the schedule; the second finds a fire time that passed.
      const first = await life.starts("/healthz", "serve");
      first.keep(await healthOnce(first, isKnown));
      await first.stop();
      life.later(1);
      const second = await life.starts("/healthz", "serve");
      second.keep(await healthOnce(second, isDone));
      const metrics = (await page(second, "/metrics"))
        .split("\n")
        .filter((line) => line.startsWith("# TYPE crm_sync_"));
      second.keep(metrics.map((line) => line.split(" ").slice(2).join("=")));
      await second.stop();
      await life.run("run", "everything");
      await life.run("runs");
      await life.run("status");
    },
  },
];
