import { readFileSync, writeFileSync } from "node:fs";
import type { Invocation } from "../../src/cli/command.ts";
import { planCommand } from "../../src/cli/commands/plan.ts";
import { runCommand } from "../../src/cli/commands/run.ts";
import { serveCommand } from "../../src/cli/commands/serve.ts";
import type { HealthDependencies } from "../../src/app/health.ts";
import { healthRoutes } from "../../src/web/health.ts";
import { world } from "./cli.ts";
import type { World } from "./cli.ts";
import { inProcess } from "./in-process.ts";
import type { Ended } from "./program.ts";

/** A command of the command line. */
export type Command = (invocation: Invocation) => Promise<number>;

/** A command line of a world, without a process of its own. What it tells goes to a file, one message a line. */
export async function says(
  w: World,
  command: Command,
  instead: Parameters<typeof inProcess>[2] = {},
): Promise<Ended & { last: string }> {
  const environment = Object.fromEntries(
    Object.entries(w.environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const options = {
    config: w.path("crm-sync.yaml"),
    sandbox: w.sandbox.url,
    ledger: w.path("ledger.db"),
    environment,
    json: false,
  };
  const ended = await inProcess(options, command, instead);
  return { ...ended, last: ended.stdout.trimEnd().split("\n").at(-1) ?? "" };
}

/** `run JOB`. */
export const runs =
  (job: string): Command =>
  (call) =>
    runCommand(call, job, []);
/** `plan`. */
export const plans: Command = (call) => planCommand(call, {}, undefined);

/** A message that people got. */
export interface Told {
  event: string;
  kind: string;
  key: string;
  instance: string;
  count: number;
  summary: string;
  cure: string;
}

/** What was told since the last look. */
export function told(w: World): Told[] {
  const text = readFileSync(w.path("told.ndjson"), "utf8");
  writeFileSync(w.path("told.ndjson"), "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Told);
}

/** A world whose messages go to a file. */
export async function telling(records: Parameters<typeof world>[0] = {}): Promise<World> {
  const w = await world(records);
  w.extra = `instance: north\nnotify: { kind: command, command: [sh, -c, "cat >> ${w.path("told.ndjson")}; echo >> ${w.path("told.ndjson")}"] }\n`;
  w.write();
  writeFileSync(w.path("told.ndjson"), "");
  return w;
}

/** What `/healthz` of a daemon on this ledger answers. */
export async function health(w: World): Promise<{ status: number; healthy: boolean; wrong: string[] }> {
  const stop = new AbortController();
  const asked = Promise.withResolvers<HealthDependencies>();
  const ended = says(w, serveCommand, {
    signal: stop.signal,
    startHealth: (deps) => {
      asked.resolve(deps);
      return Promise.resolve({ url: "http://127.0.0.1:1", close: () => Promise.resolve() });
    },
  });
  const answer = await healthRoutes(await asked.promise).request("/healthz");
  const body = (await answer.json()) as { healthy: boolean; wrong: string[] };
  stop.abort();
  await ended;
  return { status: answer.status, ...body };
}
