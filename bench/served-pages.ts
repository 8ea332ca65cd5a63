import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { request } from "undici";
import { z } from "zod";
import { reverseProxy } from "../test/support/reverse-proxy.ts";
import { customersOfCopy } from "./books/export.ts";
import { environment, makeTemplate, period, writeBooksConfiguration } from "./books/template.ts";
import { measure, words } from "./measure.ts";
import type { Program } from "./program.ts";

const customer = "000001-C1";

/** What is asked for, and the rows that it cannot do without. */
export const pages: Readonly<Record<string, { path: (ids: Ids) => string; rows: (ids: Ids) => string }>> = {
  today: {
    path: () => "/today",
    rows: () => "select stream, count(*) from record_tally group by stream",
  },
  customer: { path: () => `/customer/crm/${customer}`, rows: () => ofRecord("customers", customer) },
  order: { path: () => `/order/crm/${customer}-O00`, rows: () => ofRecord("orders", `${customer}-O00`) },
  person: { path: () => `/person/crm/${customer}-S0`, rows: () => ofRecord("staff", `${customer}-S0`) },
  "search by id": { path: () => `/search?q=${customer}`, rows: () => ofRecord("customers", customer) },
  "search in vain": { path: () => "/search?q=nobody", rows: () => ofRecord("customers", "nobody") },
  runs: { path: () => "/runs", rows: () => "select * from run order by started_at desc limit 50" },
  run: {
    path: ({ run }) => `/run/${run}`,
    rows: ({ run }) => `select * from operation where run_id = '${run}' limit 50`,
  },
  plan: { path: () => "/plan", rows: () => "select * from hold where state = 'open' limit 50" },
  quarantine: { path: () => "/quarantine", rows: () => "select stream, count(*) from quarantine group by stream" },
  settle: {
    path: () => "/settle",
    rows: () => "select * from operation where state in ('sending', 'unknown', 'parked') limit 50",
  },
  reports: { path: () => "/reports", rows: () => "select min(started_at) from run" },
  audit: { path: () => "/audit", rows: () => "select * from audit order by sequence desc limit 50" },
  assumptions: { path: () => "/assumptions", rows: () => "select 1" },
  alerts: { path: () => "/alerts", rows: () => "select 1" },
};

export interface Ids {
  run: string;
}

const ofRecord = (stream: string, id: string): string =>
  `select * from record where namespace = 'crm' and stream = '${stream}' and id = '${id}'`;
/** A ledger of so many customers, multiplied from one that the program makes, in `work`; gives its configuration. */
export async function makeLedger(
  program: Program,
  work: string,
  customers: number,
  tell: (step: string) => void,
): Promise<string> {
  tell("a small ledger, made by the program");
  // Numbers that are free are not multiplied: a ledger has one pool of them, whatever its size.
  const template = await makeTemplate(program, join(work, "template"), { ordersEach: 1, poolBatch: 1 });
  const directory = join(work, "ledger");
  mkdirSync(directory, { recursive: true });
  tell(`${customers} customers`);
  const { from, days } = period;
  const copies = Math.ceil(customers / customersOfCopy);
  const script = join(program.root, "bench/subjects/copies.ts");
  const args = words({ path: join(directory, "ledger.db"), template, copies, from, days });
  await measure({ script, args }, z.object({ entries: z.int() }));
  return writeBooksConfiguration(directory);
}

/** Who asks signed in at this proxy. */
const proxy = reverseProxy();
const access = Object.fromEntries(
  Object.entries({ ...proxy.settings, role: "decide" }).map(([name, value]) => [
    `CRM_SYNC__serve__access__proxy__${name}`,
    value,
  ]),
);

/** A daemon that shows its pages, with services that never answer; `settings` as in its environment. */
export async function serve(
  program: Program,
  configuration: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ child: ChildProcess; url: string }> {
  const words = ["--config", configuration, "--sandbox=http://127.0.0.1:9", "serve"];
  writeFileSync(join(dirname(configuration), proxy.settings.keys), proxy.publicPem);
  const child = spawn(process.execPath, [...program.nodeOptions, program.script, ...words], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      ...process.env,
      ...program.environment,
      ...environment,
      ...access,
      CRM_SYNC__serve__port: "0",
      ...settings,
    },
  });
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const found = /health at (\S+)\/healthz/u.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`the program ended before it served: ${said}`)));
  });
  return { child, url };
}

/** How long the page took; undefined where there is none. */
export async function ask(url: string): Promise<number | undefined> {
  const headers = proxy.as({ email: "bench" });
  const started = performance.now();
  // A connection of its own: a bare query holds this process up, and the program closes what is idle meanwhile.
  const { statusCode, body } = await request(url, { reset: true, headers });
  await body.dump();
  const took = performance.now() - started;
  if (statusCode >= 500) throw new Error(`${url} was answered with ${statusCode}`);
  return statusCode === 403 || (statusCode === 404 && !url.includes("nobody")) ? undefined : took;
}
