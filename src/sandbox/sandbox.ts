import type { Clock } from "../base/clock.ts";
import type { Randomness } from "../base/ids.ts";
import { createObservation, type Controls, type Observation } from "./control.ts";
import { createDoor, createTokens, staticTokens } from "./door.ts";
import { createExchanges, type Dates, type Gate } from "./exchange.ts";
import { createCallCounts, createFaults, seededFraction, type FaultRule } from "./faults.ts";
import { createListener, serve } from "./listener.ts";
import { sandboxSettingsSchema, type SandboxSettings, type SandboxSettingsInput } from "./sandbox-settings.ts";
import { createServices, type Services } from "./services.ts";
import { createDeferred, emptyStore, openStore, type Deferred, type Store } from "./store.ts";

export interface SandboxOptions {
  store: string;
  clock: Clock;
  random: Randomness;
  port?: number | undefined;
  host?: string | undefined;
  /** Per call, half before the effect. Default 0. */
  latencyMs?: number | undefined;
  gate?: Gate | undefined;
  seedFaults?: readonly FaultRule[] | undefined;
  /** Repeats the probabilities of faults; default: from `random`. */
  seed?: number | undefined;
  enterpriseCode?: ((number: number) => string) | undefined;
  settings?: SandboxSettingsInput | undefined;
}

/** The first three are tokens that never expire. */
interface SandboxCredentials {
  authorization: string;
  clientToken: string;
  userToken: string;
  appKey: string;
  appSecret: string;
  userName: string;
  userPassword: string;
}

/** Both remote services: the order service at `/order/api/order/v1`, the member-center at `/me/api/v1`. */
export interface Sandbox extends Omit<Controls, "observation" | "refuseFor">, Omit<Observation, "effects"> {
  readonly url: string;
  readonly port: number;
  readonly tokenUrl: string;
  readonly credentials: SandboxCredentials;
  readonly dates: Dates;
  readonly refuseConnections: () => Promise<void>;
  readonly acceptConnections: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Throws a Problem if the port cannot be used. One function, because it closes everything that it opens. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { clock, random } = options;
  const host = options.host ?? "127.0.0.1";
  const settings = sandboxSettingsSchema.parse(options.settings ?? {});
  const store = openStore(options.store);
  const faults = createFaults(options.seed === undefined ? () => random.fraction() : seededFraction(options.seed));
  for (const rule of options.seedFaults ?? []) faults.add(rule);
  const closing = new AbortController();
  const { signal } = closing;

  const { services, deferred } = servicesOf(options, store, settings);
  const tokens = createTokens(store, settings, () => clock.now(), random);
  const observation = createObservation(store);
  const calls = createCallCounts(faults, observation.effects);
  const { errorStatus } = settings;
  const latencyMs = options.latencyMs ?? 0;
  const gate = options.gate ?? (() => undefined);
  const door = createDoor(tokens);
  const dates: Dates = new Map();
  const exchange = createExchanges({ services, door, clock, errorStatus, latencyMs, gate, closing: signal, dates });
  const listener = createListener(host, clock, signal, (request, response) =>
    serve({ exchange, calls, controls, tokens, clock, closing: signal }, request, response),
  );
  const controls: Controls = {
    faults,
    identity: identityOf(store, random),
    observation,
    counts: calls.counts,
    expireTokens: () => tokens.expireAll(),
    dropOrders: (channelOrderId) => services.dropOrders(channelOrderId),
    hand: (edit) => services.hand(edit),
    contradict: (rows) => services.contradict(rows),
    refuseFor: listener.refuseFor,
    reset() {
      deferred.stop();
      emptyStore(store);
      tokens.restore();
      calls.clear();
      faults.clear();
    },
  };

  const port = await listener.start(options.port ?? 0).catch((error: unknown) => {
    store.close();
    throw error;
  });
  deferred.resume();

  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const { observation: _, refuseFor: _refuseFor, ...controlled } = controls;
  const { state, duplicates, batches } = observation;
  return {
    ...controlled,
    state,
    duplicates,
    batches,
    url,
    port,
    tokenUrl: `${url}/oauth/token`,
    credentials: credentialsOf(settings),
    dates,
    refuseConnections: listener.refuse,
    acceptConnections: listener.accept,
    async close() {
      closing.abort();
      deferred.stop();
      await listener.refuse();
      store.close();
    },
  };
}

function servicesOf(
  { clock, enterpriseCode }: SandboxOptions,
  store: Store,
  settings: SandboxSettings,
): { services: Services; deferred: Deferred } {
  const services = createServices({
    store,
    settings,
    now: () => clock.now(),
    enterpriseCode: enterpriseCode ?? ((number) => `E${String(number).padStart(5, "0")}`),
    defer: (kind, payload, delayMs) => deferred.add(kind, payload, delayMs),
  });
  const deferred: Deferred = createDeferred(store, clock, services.runDeferred, services.giveUpDeferred);
  return { services, deferred };
}

function identityOf(store: Store, random: Randomness): () => string {
  const read = (): string | undefined =>
    store.get<{ value: string }>("SELECT value FROM meta WHERE key = 'identity'")?.value;
  return () => {
    if (read() === undefined) store.insert("meta", { key: "identity", value: random.hex(6) });
    return read() ?? "";
  };
}

function credentialsOf({ appKey, appSecret, userName, userPassword }: SandboxSettings): SandboxCredentials {
  const { app, user } = staticTokens;
  return { authorization: app, clientToken: app, userToken: user, appKey, appSecret, userName, userPassword };
}
