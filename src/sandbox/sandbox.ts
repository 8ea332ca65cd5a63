import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import type { Randomness } from "../base/ids.ts";
import { failure } from "./answers.ts";
import { controlPrefix, controlReply } from "./control.ts";
import type { Controls } from "./control.ts";
import { createDeferred } from "./deferred.ts";
import type { Deferred } from "./deferred.ts";
import { createDoor } from "./door.ts";
import { createExchanges, readBody, reset } from "./exchange.ts";
import { createFaults, seededFraction } from "./faults.ts";
import type { FaultRule, Faults } from "./faults.ts";
import { createObservation } from "./observation.ts";
import type { Duplicates, SandboxState } from "./observation.ts";
import { findEndpoint, routes } from "./endpoints.ts";
import type { EndpointId, Platform } from "./endpoints.ts";
import { jsonType, send } from "./replies.ts";
import { createServices } from "./services.ts";
import { sandboxSettingsSchema } from "./sandbox-settings.ts";
import type { SandboxSettingsInput } from "./sandbox-settings.ts";
import { emptyStore, openStore } from "./store.ts";
import { createTokens, staticTokens } from "./tokens.ts";

export interface SandboxOptions {
  /** `:memory:`, or a file that keeps the state over restarts and kills. */
  store: string;
  clock: Clock;
  random: Randomness;
  /** 0, the default, takes a free port. */
  port?: number | undefined;
  /** 127.0.0.1 by default. */
  host?: string | undefined;
  /** Time of every call of the two services, half of it before the effect. 0 by default. */
  latencyMs?: number | undefined;
  /** Rules that are on from the start. */
  seedFaults?: readonly FaultRule[] | undefined;
  /** Makes the probabilities of faults repeat; without it they come from `random`. */
  seed?: number | undefined;
  /** The code of an enterprise by its number, counted from 1; E00001 by default. */
  enterpriseCode?: ((number: number) => string) | undefined;
  settings?: SandboxSettingsInput | undefined;
}

/** What a caller needs to be let in. Each of the first three is a token that never expires. */
export interface SandboxCredentials {
  authorization: string;
  clientToken: string;
  userToken: string;
  appKey: string;
  appSecret: string;
  userName: string;
  userPassword: string;
}

export interface SandboxCounts {
  /** Calls by operation (and `token`) since this process started or was reset, whatever became of them. */
  calls: Record<string, number>;
  /** Of these, the ones of operations that write. */
  writingCalls: number;
  /** Calls that were applied, by operation; kept with the state. Late calls count when they are applied. */
  effects: Record<string, number>;
  /** Calls that met a fault. */
  faulted: number;
}

/** Both remote services, running. */
export interface Sandbox {
  readonly url: string;
  /**
   * Random, kept with the state and new after a reset: who remembers what it holds can tell it from another sandbox.
   */
  readonly identity: () => string;
  readonly port: number;
  /** The order service is at `${orderServiceBaseUrl}/order/api/order/v1`. */
  readonly orderServiceBaseUrl: string;
  /** The member-center is at `${memberCenterBaseUrl}/me/api/v1`. */
  readonly memberCenterBaseUrl: string;
  readonly tokenUrl: string;
  readonly credentials: SandboxCredentials;
  readonly faults: Faults;
  readonly counts: () => SandboxCounts;
  readonly state: () => SandboxState;
  readonly duplicates: () => Duplicates;
  /** Every accepted E5 body of a channel order number, as it came, the oldest first. */
  readonly batches: (channelOrderId: string) => { at: number; body: string }[];
  /** Empties state, counts and faults. */
  readonly reset: () => void;
  /** Every token that the token call gave so far stops being good. */
  readonly expireTokens: () => void;
  /**
   * Takes back what the orders of this number brought, as if somebody had done it on the platform itself; answers how
   * many orders.
   */
  readonly dropOrders: (channelOrderId: string) => number;
  /** Stops listening and cuts all connections: callers get ECONNREFUSED. */
  readonly refuseConnections: () => Promise<void>;
  readonly acceptConnections: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Starts the order service (E1–E9), the member-center (M1–M10) and a token call on one port, written from the contracts
 * alone. Throws a Problem when the port cannot be had. In one piece: what is opened here is closed by what it returns.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { clock } = options;
  const host = options.host ?? "127.0.0.1";
  const settings = sandboxSettingsSchema.parse(options.settings ?? {});
  const store = openStore(options.store);
  const now = () => clock.now();
  const faults = createFaults(
    options.seed === undefined ? () => options.random.fraction() : seededFraction(options.seed),
  );
  for (const rule of options.seedFaults ?? []) faults.add(rule);
  const closing = new AbortController();

  const platform: Platform = {
    store,
    settings,
    now,
    enterpriseCode: options.enterpriseCode ?? ((number) => `E${String(number).padStart(5, "0")}`),
    defer: (kind, payload, delayMs) => deferred.add(kind, payload, delayMs),
  };
  const services = createServices(platform);
  const deferred: Deferred = createDeferred(store, clock, services.runDeferred, services.giveUpDeferred);
  const tokens = createTokens(store, settings, now, options.random);
  const observation = createObservation(store);
  const exchange = createExchanges({
    services,
    door: createDoor(tokens),
    clock,
    errorStatus: settings.errorStatus,
    latencyMs: options.latencyMs ?? 0,
    closing: closing.signal,
  });

  const calls = new Map<EndpointId | "token", number>();
  let faulted = 0;
  function counts(): SandboxCounts {
    let writingCalls = 0;
    for (const [id, count] of calls) if (id !== "token" && routes[id].writes) writingCalls += count;
    return { calls: Object.fromEntries(calls), writingCalls, effects: observation.effects(), faulted };
  }

  function faultFor(target: EndpointId | "token", values: readonly string[] = []) {
    calls.set(target, (calls.get(target) ?? 0) + 1);
    const fault = faults.decide(target, values);
    if (fault !== undefined) faulted += 1;
    return fault;
  }

  const readIdentity = store.prepare<[], { value: string }>("SELECT value FROM meta WHERE key = 'identity'");
  const setIdentity = store.prepare("INSERT INTO meta (key, value) VALUES ('identity', ?) ON CONFLICT DO NOTHING");
  function identity(): string {
    if (readIdentity.get() === undefined) setIdentity.run(options.random.hex(6));
    return readIdentity.get()?.value ?? "";
  }

  const controls: Controls = {
    faults,
    identity,
    observation,
    counts,
    expireTokens: () => tokens.expireAll(),
    dropOrders: (channelOrderId) => services.dropOrders(channelOrderId),
    refuseFor(ms) {
      // The reply to this request leaves first.
      setImmediate(() => {
        refuseConnections()
          .then(() => clock.sleep(ms, closing.signal))
          .then(acceptConnections)
          .catch(() => undefined);
      });
    },
    reset() {
      deferred.stop();
      emptyStore(store);
      tokens.restore();
      calls.clear();
      faults.clear();
      faulted = 0;
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "/";
    const cut = target.indexOf("?");
    const path = cut < 0 ? target : target.slice(0, cut);
    const query = new URLSearchParams(cut < 0 ? "" : target.slice(cut + 1));
    const method = request.method ?? "GET";
    const found = findEndpoint(method, path);
    if (found !== undefined) {
      const { id: operation, parameters } = found;
      const fault = faultFor(operation, [...parameters, ...query.values()]);
      return exchange({ request, response, operation, parameters, query, fault });
    }
    if (path.startsWith(controlPrefix)) {
      return send(response, controlReply(controls, method, path, query, await readBody(request)));
    }
    if (path === "/oauth/token" && method === "POST") return serveToken(request, response);
    send(response, { status: 404, type: jsonType, body: JSON.stringify(failure("404", `no ${method} ${path}`)) });
  }

  async function serveToken(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = faultFor("token");
    if (fault?.fault === "refused") return reset(request);
    const form = await readBody(request);
    if (fault?.fault === "slow") await clock.sleep(fault.delayMs, closing.signal);
    else if (fault?.fault === "silence") return;
    else if (fault !== undefined) {
      const body = JSON.stringify({ error: "temporarily_unavailable" });
      return send(response, { status: fault.status ?? 503, type: jsonType, body });
    }
    const answer = tokens.answer(form, request.headers.authorization);
    send(response, { status: answer.status, type: jsonType, body: JSON.stringify(answer.body) });
  }

  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
    serve(request, response).catch((error: unknown) => {
      // A caller that went away while it was writing, or the end of the sandbox, is no failure of a call.
      if (request.destroyed || response.destroyed || closing.signal.aborted) return response.destroy();
      if (response.headersSent) return reset(request);
      send(response, { status: 500, type: "text/plain", body: `sandbox: ${messageOf(error)}` });
    });
  });

  function listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const refuse = (error: Error) =>
        reject(
          new Problem({
            code: "sandbox.port",
            message: `the sandbox cannot listen on ${host}:${port}: ${error.message}`,
            cure: "choose another port with --port, or 0 for a free one",
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

  async function refuseConnections(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }

  async function acceptConnections(): Promise<void> {
    if (!server.listening && !closing.signal.aborted) await listen(port);
  }

  const port = await listen(options.port ?? 0).catch((error: unknown) => {
    store.close();
    throw error;
  });
  deferred.resume();

  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const { appKey, appSecret, userName, userPassword } = settings;
  return {
    url,
    identity,
    port,
    orderServiceBaseUrl: url,
    memberCenterBaseUrl: url,
    tokenUrl: `${url}/oauth/token`,
    credentials: {
      authorization: staticTokens.app,
      clientToken: staticTokens.app,
      userToken: staticTokens.user,
      appKey,
      appSecret,
      userName,
      userPassword,
    },
    faults,
    counts,
    state: observation.state,
    duplicates: observation.duplicates,
    batches: observation.batches,
    reset: controls.reset,
    expireTokens: controls.expireTokens,
    dropOrders: controls.dropOrders,
    refuseConnections,
    acceptConnections,
    async close() {
      closing.abort();
      deferred.stop();
      await refuseConnections();
      store.close();
    },
  };
}
