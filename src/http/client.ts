import type { z } from "zod";
import { isJsonObject, type Json } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { Randomness } from "../base/ids.ts";
import { KnownSecrets } from "../base/known-secrets.ts";
import type { Logger } from "../base/logger.ts";
import { readRegular } from "../base/regular-file.ts";
import { unknownFields } from "../contract/answer-fields.ts";
import { basePaths, type EndpointId, type ServiceName } from "../contract/endpoints.ts";
import { attempt, stopped } from "./attempt.ts";
import {
  ReadFailure,
  type Call,
  type HeardTime,
  type ServiceContext,
  type WriteCall,
  type WriteOutcome,
} from "./call.ts";
import { createCircuit, type CircuitState } from "./circuit.ts";
import { readFailureOf, repetition, writeOutcomeOf, type SeenCall } from "./conclusion.ts";
import { createHeaderWriter } from "./headers.ts";
import type { ServiceSettings } from "./http-settings.ts";
import { createPace, type PaceState, Slots } from "./pace.ts";
import { createRetryBudget, retryRead, type FailedAttempt } from "./retry.ts";
import { abortable } from "./tokens.ts";
import { createTransport, type Transport } from "./transport.ts";

export interface ServiceState {
  circuit: CircuitState;
  pace: PaceState;
  callsInFlight: number;
  callsAtOnce: number;
  callsWaiting: number;
  heard?: HeardTime | undefined;
}

export interface ServiceClient {
  /** A read with its repetitions. Throws ReadFailure: a failure is never an empty answer. */
  read<T>(call: Call<T>): Promise<T>;
  /** Exactly one attempt. `signal` counts until it is sent. Throws what `beforeSending` threw, or Problem (bad id). */
  write<T>(call: WriteCall<T>): Promise<WriteOutcome<T>>;
  state(): ServiceState;
  close(): Promise<void>;
}

export interface ClientDependencies {
  clock: Clock;
  random: Randomness;
  logger: Logger;
  environment: Readonly<Record<string, string | undefined>>;
  /** Tokens are added to it. By default, only those of this client. */
  known?: KnownSecrets | undefined;
  onCircuit?: ((service: ServiceName, state: CircuitState) => void) | undefined;
  /** Called for each call, also an unsent one. Never throws. */
  onCall?: ((call: SeenCall) => void) | undefined;
  transport?: Transport | undefined;
}

export function createServiceClient(
  service: ServiceName,
  settings: ServiceSettings,
  dependencies: ClientDependencies,
): ServiceClient {
  const context = createContext(service, settings, dependencies);
  const { circuit, pace, transport } = context;
  const slots = new Slots(settings.callsAtOnce);
  return {
    read: (call) => read(context, slots, dependencies.random, call),
    write: (call) => write(context, slots, call),
    state: () => ({
      circuit: circuit.state(),
      pace: pace.state(),
      callsInFlight: slots.taken,
      callsAtOnce: settings.callsAtOnce,
      callsWaiting: slots.waiting,
      heard: context.heard.last,
    }),
    close: () => transport.close(),
  };
}

function createContext(
  service: ServiceName,
  settings: ServiceSettings,
  dependencies: ClientDependencies,
): ServiceContext {
  const { clock, environment, known = new KnownSecrets() } = dependencies;
  const logger = dependencies.logger.child({ service });
  const onCircuit = (state: CircuitState): void => dependencies.onCircuit?.(service, state);
  return {
    base: basePaths[service],
    settings,
    clock,
    logger,
    transport: dependencies.transport ?? transportOf(settings),
    circuit: createCircuit({
      failures: settings.breakerFailures,
      openMs: settings.breakerOpenMs,
      clock,
      onChange: (state) => {
        logger.warn({ circuit: state }, "circuit changed");
        onCircuit(state);
      },
    }),
    pace: createPace({ callsPerSecond: settings.callsPerSecond, turnTimeoutMs: settings.turnTimeoutMs, clock }),
    budget: createRetryBudget(settings.retryBudget),
    headers: createHeaderWriter(service, settings.tokens, { clock, environment, known }),
    known,
    unknownFieldLog: createUnknownFieldLog(logger),
    heard: {},
    onCircuit,
    onCall: dependencies.onCall,
  };
}

function read<T>(context: ServiceContext, slots: Slots, random: Randomness, call: Call<T>): Promise<T> {
  const { settings, clock, circuit, budget } = context;
  const { endpoint, signal } = call;
  const once = async (): Promise<{ value: T } | FailedAttempt> => {
    const waits = slots.take();
    if (waits !== undefined) await turnOf(waits, slots, signal);
    try {
      const ended = await attempt(context, call, random.hex(16), null);
      if (ended.kind === "answered" && ended.result.kind === "success") return { value: ended.result.data };
      return { error: readFailureOf(endpoint, ended), again: repetition(ended) };
    } finally {
      slots.give();
    }
  };
  return retryRead(once, {
    attempts: settings.readAttempts,
    baseMs: settings.backoffBaseMs,
    capMs: settings.backoffCapMs,
    clock,
    random,
    signal,
    mayRepeat: () => circuit.refusal() === undefined && budget.take(),
  }).catch((thrown: unknown) => {
    if (thrown instanceof Problem || signal?.aborted !== true) throw thrown;
    throw new ReadFailure({ endpoint, kind: "aborted", reason: "stopped before an attempt" });
  });
}

async function write<T>(context: ServiceContext, slots: Slots, call: WriteCall<T>): Promise<WriteOutcome<T>> {
  const body = call.bodyText ?? (call.body === undefined ? null : JSON.stringify(call.body));
  const waits = slots.take();
  try {
    if (waits !== undefined) await turnOf(waits, slots, call.signal);
  } catch {
    return { kind: "not-sent", reason: stopped.reason };
  }
  let recorded: Promise<void> | undefined;
  try {
    const ended = await attempt(context, call, call.nonce, body, call);
    recorded = call.recorded;
    return writeOutcomeOf(ended, call.body ?? call.bodyText, context.known);
  } finally {
    if (recorded === undefined) slots.give();
    else void recorded.then(() => slots.give());
  }
}

/** Gives the slot of a call that was stopped meanwhile to the next one. */
async function turnOf(waits: Promise<void>, slots: Slots, signal: AbortSignal | undefined): Promise<void> {
  try {
    await abortable(waits, signal);
  } catch (thrown) {
    void waits.then(() => slots.give());
    throw thrown;
  }
}

function transportOf(settings: ServiceSettings): Transport {
  return createTransport({
    ...settings,
    connections: settings.callsAtOnce,
    certificateAuthority: settings.caFile === undefined ? undefined : readRegular(settings.caFile).toString("utf8"),
  });
}

const answersSearched = 50;
const fieldsReported = 1_000;

/** Logs each field that the contract does not show, once (A38). */
export type UnknownFieldLog = (endpoint: EndpointId, schema: z.ZodType, answer: Json) => void;

function createUnknownFieldLog(logger: Logger): UnknownFieldLog {
  const searched = new Map<EndpointId, number>();
  const reported = new Set<string>();
  return (endpoint, schema, answer) => {
    const count = (searched.get(endpoint) ?? 0) + 1;
    if (count > answersSearched) return;
    searched.set(endpoint, count);
    if (!isJsonObject(answer)) return;
    for (const field of unknownFields(schema, answer["data"])) {
      const place = `${endpoint} ${field}`;
      if (reported.has(place) || reported.size >= fieldsReported) continue;
      reported.add(place);
      logger.info({ endpoint, field }, "an answer holds a field that the contract does not show");
    }
  };
}
