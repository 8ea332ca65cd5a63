import { Agent, request } from "undici";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { otlpOf } from "./otlp.ts";
import type { EndedSpan } from "./otlp.ts";
import type { TraceSettings } from "./trace-settings.ts";

/** Most spans that wait; what comes while so many do is dropped and counted. */
const mostWaiting = 4_096;
const mostAtOnce = 512;
/** How often what waits is sent, and how long after a collector that could not take it. */
const everyMs = 2_000;
const longestPauseMs = 60_000;
/** The longest time that the end of the program waits for a collector. */
const farewellMs = 2_000;

/** Answers after which the same spans may be sent again. */
const tryAgain: ReadonlySet<number> = new Set([429, 502, 503, 504]);

type Delivery = "delivered" | "again" | "refused";

/**
 * Sends spans to a collector, in the background: whoever adds one waits for nothing, and whatever the collector does is
 * no matter of the work. An own file in place of the packages of OpenTelemetry: its form of JSON is stable, and those
 * bring 67 packages for one POST.
 */
export class SpanExporter {
  readonly #settings: TraceSettings;
  readonly #version: string;
  readonly #logger: Logger;
  readonly #agent: Agent;
  #waiting: EndedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<unknown> | undefined;
  #pauseMs = everyMs;
  #dropped = 0;
  #isTold = false;
  #isClosed = false;

  constructor(settings: TraceSettings, { version, logger }: { version: string; logger: Logger }) {
    this.#settings = settings;
    this.#version = version;
    this.#logger = logger;
    const { certificateAuthority: ca, timeoutMs } = settings;
    this.#agent = new Agent({ connections: 1, connect: { timeout: timeoutMs, ...(ca === undefined ? {} : { ca }) } });
  }

  /** Spans that no collector got. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: EndedSpan): void {
    if (this.#isClosed || this.#waiting.length >= mostWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    this.#timer ??= setTimeout(() => this.#begin(), this.#pauseMs).unref();
  }

  /** Sends what waits, for a bounded time, and frees the connection. Says how many spans were lost, where some were. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const farewell = AbortSignal.timeout(farewellMs);
    const ended = Promise.withResolvers<void>();
    farewell.addEventListener("abort", () => ended.resolve());
    const all = this.#sendAll(farewell);
    await Promise.race([all, ended.promise]);
    await this.#agent.destroy();
    await all;
    this.#dropped += this.#waiting.length;
    this.#waiting = [];
    if (this.#dropped > 0)
      this.#logger.warn(
        { spans: this.#dropped, collector: this.#settings.endpoint.origin },
        "spans were lost: the collector did not take them",
      );
  }

  #begin(): void {
    this.#timer = undefined;
    this.#sending = this.#send(AbortSignal.timeout(this.#settings.timeoutMs)).finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0 && !this.#isClosed)
        this.#timer ??= setTimeout(() => this.#begin(), this.#pauseMs).unref();
    });
  }

  async #sendAll(signal: AbortSignal): Promise<void> {
    await this.#sending;
    while (this.#waiting.length > 0 && !signal.aborted) if ((await this.#send(signal)) === "again") return;
  }

  /** Sends the oldest of what waits. Throws nothing. */
  async #send(signal: AbortSignal): Promise<Delivery> {
    const spans = this.#waiting.splice(0, mostAtOnce);
    const { delivery, why } = await this.#deliver(spans, signal);
    this.#pauseMs = delivery === "again" ? Math.min(this.#pauseMs * 2, longestPauseMs) : everyMs;
    if (delivery === "delivered") return delivery;
    if (delivery === "again") {
      const room = Math.max(0, mostWaiting - this.#waiting.length);
      this.#dropped += Math.max(0, spans.length - room);
      this.#waiting.unshift(...spans.slice(Math.max(0, spans.length - room)));
    } else this.#dropped += spans.length;
    this.#tell(why);
    return delivery;
  }

  async #deliver(spans: readonly EndedSpan[], signal: AbortSignal): Promise<{ delivery: Delivery; why: string }> {
    const { endpoint, headers, resource } = this.#settings;
    try {
      const { statusCode, body } = await request(endpoint, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(otlpOf(spans, resource, this.#version)),
        dispatcher: this.#agent,
        signal,
      });
      await body.dump({ limit: 65_536, signal });
      const why = `HTTP ${statusCode}`;
      if (statusCode >= 200 && statusCode <= 299) return { delivery: "delivered", why };
      return { delivery: tryAgain.has(statusCode) ? "again" : "refused", why };
    } catch (error) {
      return { delivery: "again", why: reasonOf(error, signal) };
    }
  }

  #tell(why: string): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const { origin } = this.#settings.endpoint;
    this.#logger.warn(
      { collector: origin, why },
      "the collector of traces did not take spans; runs go on without it, and this is said once",
    );
  }
}

/** The code of a network error; its message may quote a header. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "no answer in time";
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.name : messageOf(error);
}
