import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Clock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { failure } from "./answers.ts";
import { controlPrefix, controlReply, type Controls } from "./control.ts";
import type { Tokens } from "./door.ts";
import { findEndpoint } from "./endpoints.ts";
import { jsonType, readBody, reset, send, type Exchange } from "./exchange.ts";
import type { CallCounts } from "./faults.ts";

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface Listener {
  /** Returns the port; 0 takes a free one. Throws a Problem if the port cannot be used. */
  start: (port: number) => Promise<number>;
  /** Stops listening and cuts all connections: callers get ECONNREFUSED. */
  refuse: () => Promise<void>;
  accept: () => Promise<void>;
  refuseFor: (ms: number) => void;
}

export function createListener(host: string, clock: Clock, closing: AbortSignal, serve: Serve): Listener {
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (request.destroyed || response.destroyed || closing.aborted) return response.destroy();
      if (response.headersSent) return reset(request);
      send(response, { status: 500, type: "text/plain", body: `sandbox: ${messageOf(error)}` });
    });
  });
  let port = 0;

  async function refuse(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }

  async function accept(): Promise<void> {
    if (!server.listening && !closing.aborted) await listen(server, host, port);
  }

  return {
    async start(wanted) {
      port = await listen(server, host, wanted);
      return port;
    },
    refuse,
    accept,
    refuseFor(ms) {
      // The reply to this request leaves first.
      setImmediate(() => {
        refuse()
          .then(() => clock.sleep(ms, closing))
          .then(accept)
          .catch(() => undefined);
      });
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) =>
      reject(
        new Problem({
          code: "sandbox.port",
          message: `the sandbox cannot listen on ${host}:${port}: ${error.message}`,
          cure: "choose another port with --port NUMBER; --port 0 takes a free port",
          exitCode: exitCodes.configuration,
          cause: error,
        }),
      );
    server.once("error", refuse);
    server.listen(port, host, () => {
      server.off("error", refuse);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

interface Served {
  exchange: (exchange: Exchange) => Promise<void>;
  calls: CallCounts;
  controls: Controls;
  tokens: Tokens;
  clock: Clock;
  closing: AbortSignal;
}

export async function serve(parts: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = request.url ?? "/";
  const cut = target.indexOf("?");
  const path = cut < 0 ? target : target.slice(0, cut);
  const query = new URLSearchParams(cut < 0 ? "" : target.slice(cut + 1));
  const method = request.method ?? "GET";
  const found = findEndpoint(method, path);
  if (found !== undefined) {
    const { id: operation, parameters } = found;
    const fault = parts.calls.faultFor(operation, [...parameters, ...query.values()]);
    return parts.exchange({ request, response, operation, parameters, query, fault });
  }
  if (path.startsWith(controlPrefix)) {
    return send(response, controlReply(parts.controls, method, path, query, await readBody(request)));
  }
  if (path === "/oauth/token" && method === "POST") return serveToken(parts, request, response);
  send(response, { status: 404, type: jsonType, body: JSON.stringify(failure("404", `no ${method} ${path}`)) });
}

async function serveToken(
  { calls, tokens, clock, closing }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const fault = calls.faultFor("token");
  if (fault?.fault === "refused") return reset(request);
  const form = await readBody(request);
  if (fault?.fault === "slow") await clock.sleep(fault.delayMs, closing);
  else if (fault?.fault === "silence") return;
  else if (fault !== undefined) {
    const body = JSON.stringify({ error: "temporarily_unavailable" });
    return send(response, { status: fault.status ?? 503, type: jsonType, body });
  }
  const answer = tokens.answer(form, request.headers.authorization);
  send(response, { status: answer.status, type: jsonType, body: JSON.stringify(answer.body) });
}
