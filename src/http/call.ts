import type { z } from "zod";
import type { JsonObject } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import type { Logger } from "../base/logger.ts";
import type { EndpointId, PathTarget } from "../contract/endpoints.ts";
import type { Circuit, CircuitState } from "./circuit.ts";
import type { HeaderWriter } from "./headers.ts";
import type { ServiceSettings } from "./http-settings.ts";
import type { Pace } from "./pace.ts";
import type { RetryBudget } from "./retry.ts";
import type { SeenCall } from "./seen-call.ts";
import type { Transport } from "./transport.ts";
import type { UnknownFieldLog } from "./unknown-field-log.ts";

/** A call to a service, as a read makes it. */
export interface Call<T> {
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

/** A call that changes something. */
export interface WriteCall<T> extends Call<T> {
  /** g_nonce, 32 hex characters, written down by the caller before. */
  nonce: string;
  body?: JsonObject | undefined;
  /** The body's text where the caller has made it already: exactly these bytes are sent. */
  bodyText?: string | undefined;
  /**
   * Awaited once the call has its permit (circuit, concurrency, rate, token) and before its first byte: the intent is
   * committed here. Not awaited where the permit is refused. What it throws stops the call, gives the permit back and
   * is thrown by `write`. `acceptedUntil`: see `SignedHeaders`.
   */
  beforeSending?: ((acceptedUntil?: number) => Promise<void>) | undefined;
  /** Asked right before the first byte; false: it does not leave. */
  mayLeave?: (() => boolean) | undefined;
  /**
   * The permit is kept until this resolves: until the outcome is on its way into the ledger, ahead of the next call's
   * intent.
   */
  recorded?: Promise<void> | undefined;
}

/** A Date header, and when it was read by the monotonic clock and by the wall clock. Milliseconds. */
export interface HeardTime {
  date: number;
  readAt: number;
  now: number;
}

/** What all calls to one service share, reads and writes alike. */
export interface ServiceContext {
  /** Path in front of every endpoint's. */
  base: string;
  settings: ServiceSettings;
  clock: Clock;
  logger: Logger;
  transport: Transport;
  circuit: Circuit;
  pace: Pace;
  budget: RetryBudget;
  headers: HeaderWriter;
  /** What no answer may show. */
  known: KnownSecrets;
  unknownFieldLog: UnknownFieldLog;
  /** What the service's last Date header said. */
  heard: { last?: HeardTime };
  /** Told when the circuit opens, when a probe failed, when it closes, and of each answer while it is closed. */
  onCircuit: (state: CircuitState) => void;
  /** Told of each call that ended, and of each that was not sent. It never throws. */
  onCall?: ((call: SeenCall) => void) | undefined;
}
