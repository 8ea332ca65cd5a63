import type { IncomingHttpHeaders } from "node:http";
import { isUtf8 } from "node:buffer";
import type { Dispatcher } from "undici";
import { Underway } from "./underway.ts";
import { timeouts } from "./timeouts.ts";
import { undici } from "./undici.ts";
import type { TimeoutSettings } from "./timeouts.ts";

export interface TransportRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path and query. */
  path: string;
  /** Names and values in turn. */
  headers: string[];
  body: string | null;
  /** Given for reads; a write runs to its end once it is sent. */
  signal?: AbortSignal | undefined;
  /** Asked right before the first byte; false: it does not leave. */
  mayLeave?: (() => boolean) | undefined;
}

export interface TransportAnswer {
  status: number;
  /** Retry-After header, where there is one. */
  retryAfter: string | undefined;
  /** Date header in epoch milliseconds, where there is one that can be read. */
  date?: number | undefined;
  text: string;
}

/** No whole answer came. `written: false` is the proof that not one byte of the request left. */
export class TransportFailure extends Error {
  readonly written: boolean;
  /** ECONNREFUSED, ENOTFOUND, timeout, too-large … */
  readonly reason: string;
  readonly status: number | undefined;

  constructor(init: { written: boolean; reason: string; status?: number | undefined }) {
    super(init.reason);
    this.written = init.written;
    this.reason = init.reason;
    this.status = init.status;
  }
}

/** The reason of what was not let go right before its first byte. */
const heldUp = "the program was held up before it could send";

/** Carries one request to one service and brings one answer back, in one attempt. */
export interface Transport {
  /** Rejects only with TransportFailure. */
  send(request: TransportRequest): Promise<TransportAnswer>;
  close(): Promise<void>;
}

export interface TransportOptions extends TimeoutSettings {
  baseUrl: string;
  connections: number;
  callTimeoutMs: number;
  answerLimitBytes: number;
  /** PEM of a certificate authority. */
  certificateAuthority?: string | undefined;
}

/** A transport over an undici pool: HTTP/1.1, keep-alive, no pipelining, no redirects followed, nothing repeated. */
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

/**
 * One request on its way. undici calls `onRequestStart` right before the first byte is written, which is what `written`
 * rests on.
 */
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

  /** From now on it ends when it takes too long or is stopped. */
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
    // Given up before it was sent, or about to be sent a second time: an abort here comes before the first byte.
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

/** The code of a network error. Its message is not used: it may quote a header or a body. */
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
