import { isJsonObject } from "../base/canonical-json.ts";
import { readFileSync } from "node:fs";
import pLimit from "p-limit";
import type { z } from "zod";

import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf, Problem } from "../base/errors.ts";
import type { Randomness } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { EndpointId, PathTarget, ServiceName } from "../contract/endpoints.ts";
import { basePaths, endpointPath, endpoints } from "../contract/endpoints.ts";
import { unknownFields } from "../contract/unknown-fields.ts";
import { abortable } from "./abortable.ts";
import type { Circuit, CircuitState, Permit } from "./circuit.ts";
import { createCircuit } from "./circuit.ts";
import type { Attempt } from "./conclusion.ts";
import { readFailureOf, repetition, writeOutcomeOf } from "./conclusion.ts";
import type { Classified } from "./classification.ts";
import { classify } from "./classification.ts";
import type { SignedHeaders } from "./headers.ts";
import { createHeaderWriter, requestPath, subjectOfTarget } from "./headers.ts";
import { ReadFailure } from "./call-outcome.ts";
import type { WriteOutcome } from "./call-outcome.ts";
import type { PaceState } from "./pace.ts";
import { createPace } from "./pace.ts";
import { scrub } from "./redaction.ts";
import { createRetryBudget, retryAfterMs, retryRead } from "./retry.ts";
import type { ServiceSettings } from "./http-settings.ts";
import { TokenFailure } from "./token.ts";
import type { Transport, TransportAnswer } from "./transport.ts";
import { createTransport, TransportFailure } from "./transport.ts";

interface Call<T> {
  endpoint: EndpointId;
  target: PathTarget;
  /** Query parameters besides g_nonce. */
  query?: Readonly<Record<string, string>> | undefined;
  /** Shape of the answer's data. */
  schema: z.ZodType<T>;
  /** What is wrong with data of the right shape. */
  check?: ((data: T) => string | undefined) | undefined;
  /** Whose user token is used. */
  enterprise?: string | undefined;
  /** Whom the call is for, in the words of the ledger: customers with unlisted codes are counted (A2). */
  customer?: string | undefined;
  signal?: AbortSignal | undefined;
}

type ReadOptions<T> = Call<T>;

interface WriteOptions<T> extends Call<T> {
  /** g_nonce, 32 hex characters, written down by the caller before. */
  nonce: string;
  body?: JsonObject | undefined;
  /** The body's text where the caller has made it already: exactly these bytes are sent. */
  bodyText?: string | undefined;
  /**
   * Awaited once the call has its permit (circuit, concurrency, rate, token) and before its first byte: the intent is
   * committed here. Not awaited where the permit is refused. What it throws stops the call, gives the permit back and
   * is thrown by `write`.
   */
  beforeSending?: (() => Promise<void>) | undefined;
  /**
   * The permit is kept until this resolves: until the outcome is on its way into the ledger, ahead of the next call's
   * intent.
   */
  recorded?: Promise<void> | undefined;
}

export interface ServiceState {
  circuit: CircuitState;
  pace: PaceState;
  callsInFlight: number;
  callsWaiting: number;
  retriesLeft: number;
}

/** Talks to one of the two services. */
export interface ServiceClient {
  /** A read, with its repetitions. Rejects with ReadFailure; a failure is never an empty answer. */
  read<T>(options: ReadOptions<T>): Promise<T>;
  /**
   * A write: exactly one attempt. `signal` counts until the request is sent. Rejects with what `beforeSending` threw,
   * and else only for an id that cannot stand in its path (Problem).
   */
  write<T>(options: WriteOptions<T>): Promise<WriteOutcome<T>>;
  state(): ServiceState;
  close(): Promise<void>;
}

export interface ClientDependencies {
  clock: Clock;
  random: Randomness;
  logger: Logger;
  /** The environment as it was read at the start, for tokens. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Told when the circuit opens, when a probe failed, when it closes, and of each answer while it is closed. */
  onCircuit?: ((service: ServiceName, state: CircuitState) => void) | undefined;
  /** Another way to carry requests, for tests in virtual time. */
  transport?: Transport | undefined;
}

/** Answers that are searched for unknown fields, for each endpoint. */
const answersSearched = 50;

/**
 * The client of one of the two services. In one piece: circuit, pace, retry budget and tokens are one state that reads
 * and writes share.
 */
export function createServiceClient(
  service: ServiceName,
  settings: ServiceSettings,
  dependencies: ClientDependencies,
): ServiceClient {
  const { clock, random } = dependencies;
  const logger = dependencies.logger.child({ service });
  const transport = dependencies.transport ?? transportOf(settings);
  const pace = createPace({ callsPerSecond: settings.callsPerSecond, turnTimeoutMs: settings.turnTimeoutMs, clock });
  const circuit: Circuit = createCircuit({
    failures: settings.breakerFailures,
    openMs: settings.breakerOpenMs,
    clock,
    onChange: (circuitState) => {
      logger.warn({ circuit: circuitState }, "circuit changed");
      dependencies.onCircuit?.(service, circuitState);
    },
  });
  const budget = createRetryBudget(settings.retryBudget);
  const writeHeaders = createHeaderWriter(service, settings.tokens, { clock, environment: dependencies.environment });
  const limit = pLimit(settings.callsAtOnce);
  const base = basePaths[service];
  const searched = new Map<EndpointId, number>();
  const reported = new Set<string>();

  /** One call. In one piece: a crash is judged by its order: turn, token, permit, intent, first byte, answer. */
  async function attempt<T>(
    options: Call<T>,
    nonce: string,
    body: string | null,
    beforeSending?: () => Promise<void>,
  ): Promise<Attempt<T>> {
    const { endpoint: id, signal } = options;
    const endpoint = endpoints[id];
    const path = requestPath(base, endpointPath(id, options.target), nonce, options.query ?? {});
    let signed: SignedHeaders;
    let permit: Permit;
    try {
      await probeEnded(signal);
      const closed = circuit.refusal();
      if (closed !== undefined) return { kind: "unsent", why: "circuit-open", reason: closed };
      await pace.turn(signal);
      signed = await writeHeaders.write(endpoint, options.enterprise, signal);
      signal?.throwIfAborted();
      permit = await askPermit(signal);
    } catch (thrown) {
      if (signal?.aborted === true) return { kind: "unsent", why: "aborted", reason: "stopped before it was sent" };
      if (thrown instanceof TokenFailure) return { kind: "unsent", why: "token", reason: thrown.message };
      return { kind: "unsent", why: "no-turn", reason: messageOf(thrown) };
    }
    if (permit.kind === "refused") return { kind: "unsent", why: "circuit-open", reason: permit.reason };
    if (beforeSending !== undefined) {
      const stopped = await committed(permit, beforeSending, signal);
      if (stopped !== undefined) return stopped;
    }
    const since = clock.monotonic();
    let answer: TransportAnswer;
    try {
      answer = await transport.send({
        method: endpoint.method,
        path,
        headers: signed.headers,
        body,
        signal: endpoint.writes ? undefined : signal,
      });
    } catch (thrown) {
      const failure = asTransportFailure(thrown);
      if (signal?.aborted === true && !endpoint.writes) circuit.release(permit);
      else circuit.failure(permit, failure.reason);
      logger.debug(
        { endpoint: id, reason: failure.reason, written: failure.written, ms: clock.monotonic() - since },
        "no answer",
      );
      return { kind: "failed", failure };
    }
    let result: Classified<T>;
    try {
      result = classify(answer, {
        endpoint: id,
        schema: options.schema,
        check: options.check,
        tokenCodes: settings.tokenCodes,
      });
    } catch (thrown) {
      // A probe that never ends would have every other call wait for ever.
      circuit.release(permit);
      throw thrown;
    }
    learn(permit, answer, result, signed, options);
    logger.debug({ endpoint: id, status: answer.status, result: result.kind, ms: clock.monotonic() - since }, "answer");
    return { kind: "answered", answer, result, signed };
  }

  /**
   * Commits the intent while the permit is held; gives why the call is not sent all the same, where that came up
   * meanwhile.
   */
  async function committed(
    permit: Permit,
    beforeSending: () => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<Extract<Attempt<never>, { kind: "unsent" }> | undefined> {
    try {
      await beforeSending();
    } catch (thrown) {
      circuit.release(permit);
      throw thrown;
    }
    const closed = permit.kind === "probe" ? undefined : circuit.refusal();
    if (signal?.aborted !== true && closed === undefined) return undefined;
    circuit.release(permit);
    return closed === undefined
      ? { kind: "unsent", why: "aborted", reason: "stopped before it was sent" }
      : { kind: "unsent", why: "circuit-open", reason: closed };
  }

  /**
   * While one call tries the service again, the others wait for what becomes of it, and are refused only when it
   * failed.
   */
  async function probeEnded(signal: AbortSignal | undefined): Promise<void> {
    for (let ended = circuit.probeEnds(); ended !== undefined; ended = circuit.probeEnds())
      await abortable(ended, signal);
  }

  async function askPermit(signal: AbortSignal | undefined): Promise<Permit> {
    for (;;) {
      await probeEnded(signal);
      const permit = circuit.ask();
      // Another one that waited may have become the next probe just now.
      if (permit.kind !== "refused" || circuit.probeEnds() === undefined) return permit;
    }
  }

  /** Draws from an answer what concerns the calls after it: pace, circuit, tokens, alerts. */
  function learn<T>(
    permit: Permit,
    answer: TransportAnswer,
    result: Classified<T>,
    signed: SignedHeaders,
    options: Call<T>,
  ): void {
    const complaint =
      result.kind === "limited" ||
      answer.status === 503 ||
      (result.kind === "code" && result.meaning.listed && result.meaning.effect === "unknown");
    if (complaint) {
      pace.slow();
      const wait = retryAfterMs(answer.retryAfter, clock.now());
      if (wait !== undefined) pace.pause(wait);
    }
    switch (result.kind) {
      case "success":
      case "partial":
        answers(permit);
        signed.accepted();
        budget.earn();
        pace.recover();
        reportUnknownFields(options, result.answer);
        return;
      case "limited":
        circuit.release(permit);
        return;
      case "unauthorized":
        signed.reject("all");
        circuit.release(permit);
        return;
      case "odd":
        if (result.alive) circuit.release(permit);
        else circuit.failure(permit, result.reason);
        return;
      case "code":
        if (!result.meaning.listed) {
          circuit.unlistedCode(
            permit,
            scrub(result.code).slice(0, 40),
            options.customer ?? subjectOfTarget(options.target) ?? options.endpoint,
          );
        } else if (result.meaning.effect === "refresh-token") {
          signed.reject(result.meaning.token ?? "all");
          circuit.release(permit);
        } else if (complaint) {
          circuit.failure(permit, `code ${result.code}`);
        } else {
          answers(permit);
          signed.accepted();
        }
        if (result.meaning.alert)
          logger.error({ endpoint: options.endpoint, code: result.code }, "the service refuses this application");
    }
  }

  function answers(permit: Permit): void {
    circuit.success(permit);
    const now = circuit.state();
    if (now.state === "closed") dependencies.onCircuit?.(service, now);
  }

  function reportUnknownFields<T>(options: Call<T>, answer: Json): void {
    const count = (searched.get(options.endpoint) ?? 0) + 1;
    if (count > answersSearched) return;
    searched.set(options.endpoint, count);
    if (!isJsonObject(answer)) return;
    for (const field of unknownFields(options.schema, answer["data"])) {
      const place = `${options.endpoint} ${field}`;
      if (reported.has(place) || reported.size >= 1_000) continue;
      reported.add(place);
      logger.info({ endpoint: options.endpoint, field }, "an answer holds a field that the contract does not show");
    }
  }

  async function read<T>(options: ReadOptions<T>): Promise<T> {
    const { endpoint, signal } = options;
    try {
      return await retryRead(
        async () => {
          const ended = await limit(() => attempt(options, random.hex(16), null));
          if (ended.kind === "answered" && ended.result.kind === "success") return { value: ended.result.data };
          return { error: readFailureOf(endpoint, ended), again: repetition(ended) };
        },
        {
          attempts: settings.readAttempts,
          baseMs: settings.backoffBaseMs,
          capMs: settings.backoffCapMs,
          clock,
          random,
          signal,
          mayRepeat: () => circuit.refusal() === undefined && budget.take(),
        },
      );
    } catch (thrown) {
      if (thrown instanceof Problem || signal?.aborted !== true) throw thrown;
      throw new ReadFailure({ endpoint, kind: "aborted", reason: "stopped between two attempts" });
    }
  }

  async function write<T>(options: WriteOptions<T>): Promise<WriteOutcome<T>> {
    const body = options.bodyText ?? (options.body === undefined ? null : JSON.stringify(options.body));
    const ended = Promise.withResolvers<Attempt<T>>();
    void limit(async () => {
      try {
        ended.resolve(await attempt(options, options.nonce, body, options.beforeSending));
        await options.recorded;
      } catch (thrown) {
        ended.reject(thrown);
      }
    });
    return writeOutcomeOf(await ended.promise, options.body ?? options.bodyText);
  }

  return {
    read,
    write,
    state: () => ({
      circuit: circuit.state(),
      pace: pace.state(),
      callsInFlight: limit.activeCount,
      callsWaiting: limit.pendingCount,
      retriesLeft: budget.left(),
    }),
    close: () => transport.close(),
  };
}

function transportOf(settings: ServiceSettings): Transport {
  return createTransport({
    ...settings,
    connections: settings.callsAtOnce,
    certificateAuthority: settings.caFile === undefined ? undefined : readFileSync(settings.caFile, "utf8"),
  });
}

/** A transport that breaks its word counts as having written. */
function asTransportFailure(thrown: unknown): TransportFailure {
  return thrown instanceof TransportFailure
    ? thrown
    : new TransportFailure({ written: true, reason: "the transport failed" });
}
