import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Clock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { reset } from "./exchange.ts";
import { send } from "./replies.ts";

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The one port of the sandbox. */
export interface Listener {
  /** Listens and answers the port: 0 takes a free one. Throws a Problem when the port cannot be had. */
  start: (port: number) => Promise<number>;
  /** Stops listening and cuts all connections: callers get ECONNREFUSED. */
  refuse: () => Promise<void>;
  accept: () => Promise<void>;
  /** Takes no connections for `ms`. */
  refuseFor: (ms: number) => void;
}

export function createListener(host: string, clock: Clock, closing: AbortSignal, serve: Serve): Listener {
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
    serve(request, response).catch((error: unknown) => {
      // A caller that went away while it was writing, or the end of the sandbox, is no failure of a call.
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
