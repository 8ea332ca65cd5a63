import type { IncomingMessage, ServerResponse } from "node:http";
import { pino } from "pino";
import { onTestFinished } from "vitest";

import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { type ClientDependencies, type ServiceClient, createServiceClient } from "../../src/http/client.ts";
import type { ServiceName } from "../../src/contract/endpoints.ts";
import { type ServiceSettings, serviceSettingsSchema } from "../../src/http/http-settings.ts";
import { startServer, type Asked } from "../support/http-server.ts";

/** What the server answers: JSON with a status, or whatever the function does to the socket. */
export type Reply =
  | { status?: number; json: unknown; headers?: Record<string, string> }
  | { status?: number; text: string; headers?: Record<string, string> }
  | ((response: ServerResponse, request: IncomingMessage) => void);

export interface Service {
  url: string;
  seen: Asked[];
}

/** A server on this machine that answers what it is told and remembers what it was asked. */
export async function startService(answer: (asked: Asked, count: number) => Reply): Promise<Service> {
  const seen: Asked[] = [];
  const url = await startServer((asked, response, request) => {
    seen.push(asked);
    const reply = answer(asked, seen.length);
    if (typeof reply === "function") {
      reply(response, request);
      return;
    }
    const text = "text" in reply ? reply.text : JSON.stringify(reply.json);
    response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
    response.end(text);
  });
  return { url, seen };
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
