import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { timeouts, undici, type TimeoutSettings } from "./undici.ts";

interface Call {
  fail(reason: string): void;
}

/** One timer for all calls and one listener for each signal: per call they would cost as much as the call. */
export class Underway {
  readonly #timeoutMs: number;
  /** In the order of their beginning, so also of their end. */
  readonly #calls = new Map<Call, { endsAt: number; signal: AbortSignal | undefined }>();
  readonly #bySignal = new Map<AbortSignal, { calls: Set<Call>; stop: () => void }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(call: Call, signal: AbortSignal | undefined): void {
    this.#calls.set(call, { endsAt: performance.now() + this.#timeoutMs, signal });
    if (this.#timer === undefined) this.#wait(this.#timeoutMs);
    if (signal !== undefined) this.#listen(signal).add(call);
  }

  delete(call: Call): void {
    const signal = this.#calls.get(call)?.signal;
    this.#calls.delete(call);
    if (signal !== undefined) this.#bySignal.get(signal)?.calls.delete(call);
  }

  #listen(signal: AbortSignal): Set<Call> {
    const known = this.#bySignal.get(signal);
    if (known !== undefined) return known.calls;
    const calls = new Set<Call>();
    const stop = (): void => {
      this.#bySignal.delete(signal);
      for (const call of calls) call.fail("stopped");
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#bySignal.set(signal, { calls, stop });
    return calls;
  }

  /** Signals without a call. Kept until the timer ends, because most get the next call at once. */
  #stopListening(): void {
    for (const [signal, { calls, stop }] of this.#bySignal) {
      if (calls.size > 0) continue;
      signal.removeEventListener("abort", stop);
      this.#bySignal.delete(signal);
    }
  }

  /** The sockets keep the process alive, not the timer. */
  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#endLate(), ms);
    this.#timer.unref();
  }

  #endLate(): void {
    const now = performance.now();
    const late = [...this.#calls].filter(([, { endsAt }]) => endsAt <= now);
    for (const [call] of late) call.fail("the call took too long");
    this.#stopListening();
    this.#timer = undefined;
    const [next] = this.#calls.values();
    if (next !== undefined) this.#wait(Math.max(1, Math.ceil(next.endsAt - now)));
  }
}

export interface TransportRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  headers: string[];
  body: string | null;
  /** Only for reads: a sent write runs to its end. */
  signal?: AbortSignal | undefined;
  mayLeave?: (() => boolean) | undefined;
}

export interface TransportAnswer {
  status: number;
  retryAfter: string | undefined;
  /** The Date header in epoch milliseconds, if it is readable. */
  date?: number | undefined;
  text: string;
}

/** No whole answer came. `written: false` proves that not one byte of the request left. */
export class TransportFailure extends Error {
  readonly written: boolean;
  readonly reason: string;
  readonly status: number | undefined;

  constructor(init: { written: boolean; reason: string; status?: number | undefined }) {
    super(init.reason);
    this.written = init.written;
    this.reason = init.reason;
    this.status = init.status;
  }
}

/** Says nothing about the service. */
export const heldUp = "the program was held up before it could send";

export interface Transport {
  /** Throws only TransportFailure. */
  send(request: TransportRequest): Promise<TransportAnswer>;
  close(): Promise<void>;
}

interface TransportOptions extends TimeoutSettings {
  baseUrl: string;
  connections: number;
  callTimeoutMs: number;
  answerLimitBytes: number;
  certificateAuthority?: string | undefined;
}

/** Uses an undici pool: HTTP/1.1, keep-alive, no pipelining, no redirects, no repetition. */
export function createTransport(options: TransportOptions): Transport {
  const url = new URL(options.baseUrl);
  const prefix = url.pathname.replace(/\/+$/, "");
  const pool = new (undici().Pool)(url.origin, {
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    ...timeouts(options, options.certificateAuthority),
  });
  const underway = new Underway(options.callTimeoutMs);
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        const exchange = new Exchange(options.answerLimitBytes, request.mayLeave, { resolve, reject });
        exchange.begin(underway, request.signal);
        const sent: Dispatcher.DispatchOptions = {
          method: request.method,
          path: prefix + request.path,
          headers: request.headers,
          body: request.body,
        };
        try {
          pool.dispatch(sent, exchange);
        } catch (thrown) {
          exchange.fail(reasonOf(thrown));
        }
      }),
    close: () => pool.destroy(),
  };
}

/** `written` depends on undici calling `onRequestStart` right before the first byte. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #limit: number;
  readonly #mayLeave: TransportRequest["mayLeave"];
  readonly #resolve: (answer: TransportAnswer) => void;
  readonly #reject: (failure: TransportFailure) => void;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #written = false;
  #size = 0;
  #status = 0;
  #retryAfter: string | undefined;
  #date: number | undefined;
  #encoding: string | undefined;
  #underway: Underway | undefined;

  constructor(
    limit: number,
    mayLeave: TransportRequest["mayLeave"],
    ended: { resolve: (answer: TransportAnswer) => void; reject: (failure: TransportFailure) => void },
  ) {
    this.#limit = limit;
    this.#mayLeave = mayLeave;
    this.#resolve = ended.resolve;
    this.#reject = ended.reject;
  }

  begin(underway: Underway, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) {
      this.fail("stopped");
      return;
    }
    this.#underway = underway;
    underway.add(this, signal);
  }

  fail(reason: string): void {
    if (this.#settled) return;
    this.#settle();
    this.#reject(
      new TransportFailure({ written: this.#written, reason, status: this.#status === 0 ? undefined : this.#status }),
    );
    this.#controller?.abort(new Error(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Ended before it was sent, or about to be sent twice. An abort here comes before the first byte.
    if (this.#settled || this.#written) {
      controller.abort(new Error("not to be sent"));
      return;
    }
    this.#controller = controller;
    if (this.#mayLeave?.() === false) this.fail(heldUp);
    else this.#written = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = headers["retry-after"];
    const date = Date.parse(headers.date ?? "");
    this.#date = Number.isNaN(date) ? undefined : date;
    const encoding = headers["content-encoding"];
    this.#encoding = encoding === undefined || encoding === "identity" ? undefined : encoding;
    if (Number(headers["content-length"] ?? 0) > this.#limit) this.fail("the answer is too large");
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#size += chunk.length;
    if (this.#size > this.#limit) this.fail("the answer is too large");
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    if (this.#encoding !== undefined) {
      this.fail("the answer is compressed, which was not asked for");
      return;
    }
    const [only] = this.#chunks;
    const bytes = only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    if (!isUtf8(bytes)) {
      this.fail("the answer is not UTF-8");
      return;
    }
    this.#settle();
    const text = bytes.toString("utf8");
    this.#resolve({ status: this.#status, retryAfter: this.#retryAfter, date: this.#date, text });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.fail(reasonOf(error));
  }

  #settle(): void {
    this.#settled = true;
    this.#underway?.delete(this);
  }
}

/** The code of a network error. Its message may quote a header or a body, so it is not used. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof Error) {
    if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
    if (thrown instanceof AggregateError) {
      const [first] = thrown.errors as unknown[];
      if (first !== undefined) return reasonOf(first);
    }
    return thrown.name;
  }
  return "an unknown network error";
}
