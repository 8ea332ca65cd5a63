import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import type { WebDependencies, StartWeb } from "../../src/operate/health.ts";
import { healthRoutes } from "../../src/web/health.ts";
import { world, type World } from "./cli.ts";
import { startServer } from "./http-server.ts";
import { crmSync } from "./program.ts";

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
  const url = await startServer(({ body }, response) => {
    appendFileSync(w.path("told.ndjson"), `${body}\n`);
    response.end();
  });
  w.extra = `instance: north\nalerts: { channels: [{ kind: webhook, url: "${url}" }] }\n`;
  w.write();
  writeFileSync(w.path("told.ndjson"), "");
  return w;
}

/** What `/healthz` of a daemon on this ledger answers. */
export async function health(w: World): Promise<{ status: number; healthy: boolean; wrong: string[] }> {
  const stop = new AbortController();
  const asked = Promise.withResolvers<WebDependencies>();
  const startWeb: StartWeb = (deps) => {
    asked.resolve(deps);
    return Promise.resolve({ url: "http://127.0.0.1:1", close: () => Promise.resolve() });
  };
  const ended = crmSync({ ...w.place, signal: stop.signal, startWeb }, "serve");
  const answer = await healthRoutes(await asked.promise).request("/healthz");
  const body = (await answer.json()) as { healthy: boolean; wrong: string[] };
  stop.abort();
  await ended;
  return { status: answer.status, ...body };
}
