import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { onTestFinished } from "vitest";

import type { Clock } from "../../src/base/clock.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import type { ClientDependencies, ServiceClient } from "../../src/http/client.ts";
import { createServiceClient } from "../../src/http/client.ts";
import type { ServiceName } from "../../src/contract/endpoints.ts";
import type { ServiceSettings } from "../../src/http/http-settings.ts";
import { serviceSettingsSchema } from "../../src/http/http-settings.ts";

/** What the server got. */
export interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What the server answers: JSON with a status, or whatever the function does to the socket. */
export type Reply =
  | { status?: number; json: unknown; headers?: Record<string, string> }
  | { status?: number; text: string; headers?: Record<string, string> }
  | ((response: ServerResponse, request: IncomingMessage) => void);

export interface Service {
  url: string;
  seen: Seen[];
}

/** A server on this machine that answers what it is told and remembers what it was asked. */
export async function startService(answer: (seen: Seen, count: number) => Reply): Promise<Service> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => undefined);
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://here");
      const one: Seen = {
        method: request.method ?? "",
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      seen.push(one);
      const reply = answer(one, seen.length);
      if (typeof reply === "function") {
        reply(response, request);
        return;
      }
      const text = "text" in reply ? reply.text : JSON.stringify(reply.json);
      response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen };
}

export const success = (data?: unknown): Reply => ({
  json: { code: 0, message: "success", ...(data === undefined ? {} : { data }) },
});
export const refusal = (code: string, message = "m", data?: unknown): Reply => ({
  status: 299,
  json: { code, message, cause: "c", ...(data === undefined ? {} : { data }) },
});

/** A clock whose time passes only by sleeping, all at once. */
export function createLeapClock(): Clock & { slept: number[]; pass(ms: number): void } {
  let time = 0;
  const slept: number[] = [];
  return {
    slept,
    pass: (ms) => {
      time += ms;
    },
    now: () => Date.UTC(2026, 9, 1) + time,
    monotonic: () => time,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      time += ms;
    },
  };
}

export const quickSettings = {
  tokens: { authorization: { fixed: "app-token-1" }, userToken: { fixed: "user-token-1" } },
  callsPerSecond: null,
  backoffBaseMs: 1,
  backoffCapMs: 2,
};

/** Log lines that a client wrote, as text. */
export interface Log {
  lines: string[];
}

export function startClient(
  service: ServiceName,
  baseUrl: string,
  settings: Record<string, unknown> = {},
  dependencies: Partial<ClientDependencies> = {},
): ServiceClient & { log: Log; settings: ServiceSettings } {
  const log: Log = { lines: [] };
  const parsed = serviceSettingsSchema.parse({ baseUrl, ...quickSettings, ...settings });
  const client = createServiceClient(service, parsed, {
    clock: systemClock,
    random: systemRandomness,
    logger: pino({ level: "trace" }, { write: (line: string) => void log.lines.push(line) }),
    environment: {},
    ...dependencies,
  });
  onTestFinished(() => client.close());
  return { ...client, log, settings: parsed };
}
