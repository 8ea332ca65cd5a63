import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../../base/clock.ts";
import type { Randomness } from "../../base/ids.ts";
import type { Logger } from "../../base/logger.ts";
import type { SpanEnd, SpanFacts, SpanName, Traces } from "../../base/traces.ts";
import { SpanExporter } from "./exporter.ts";
import type { EndedSpan } from "./otlp.ts";
import { traceSettingsOf } from "./trace-settings.ts";
import type { TraceSettings } from "./trace-settings.ts";

/** Traces that are sent to a collector, until they are closed. */
export interface SentTraces extends Traces {
  /** Sends what is left, for a bounded time. */
  close(): Promise<void>;
}

interface Dependencies {
  clock: Clock;
  random: Randomness;
  logger: Logger;
  /** Version of the program, and who speaks. */
  version: string;
  instance: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/**
 * What the `OTEL_*` variables ask for; undefined: no traces. A variable that cannot be followed is named in the log,
 * and nothing is traced.
 */
export function createTraces(dependencies: Dependencies): SentTraces | undefined {
  const asked = traceSettingsOf(dependencies.environment);
  if (asked.kind === "off") return undefined;
  if (asked.kind === "on") return new CollectedTraces(asked.settings, dependencies);
  const { variable, why, cure } = asked.bad;
  dependencies.logger.warn(
    { variable, why, cure },
    "nothing is traced: a variable of OpenTelemetry cannot be followed",
  );
  return undefined;
}

/** The span that work is carried out in. */
interface Current {
  traceId: string;
  spanId: string;
  isKept: boolean;
}

class CollectedTraces implements SentTraces {
  readonly #current = new AsyncLocalStorage<Current>();
  readonly #exporter: SpanExporter;
  readonly #clock: Clock;
  readonly #random: Randomness;
  readonly #share: number;

  constructor(settings: TraceSettings, { clock, random, logger, version, instance }: Dependencies) {
    this.#clock = clock;
    this.#random = random;
    this.#share = settings.share;
    const resource = { "service.version": version, "service.instance.id": instance, ...settings.resource };
    this.#exporter = new SpanExporter({ ...settings, resource }, { version, logger });
  }

  async carryOut<T>(
    name: SpanName,
    facts: SpanFacts,
    work: () => Promise<T>,
    ended: (result: T) => SpanEnd,
  ): Promise<T> {
    const parent = this.#current.getStore();
    const own = this.#begin(parent);
    if (!own.isKept) return await this.#current.run(own, work);
    const start = this.#clock.now();
    const since = this.#clock.monotonic();
    const end = (told: SpanEnd): void => {
      const { failed = false, ...more } = told;
      const span: EndedSpan = {
        traceId: own.traceId,
        spanId: own.spanId,
        parentId: parent?.spanId,
        name,
        start,
        end: start + (this.#clock.monotonic() - since),
        facts: { ...facts, ...more },
        failed,
      };
      this.#exporter.add(span);
    };
    let result: T;
    try {
      result = await this.#current.run(own, work);
    } catch (error) {
      end({ failed: true, outcome: "failed" });
      throw error;
    }
    end(ended(result));
    return result;
  }

  async close(): Promise<void> {
    await this.#exporter.close();
  }

  #begin(parent: Current | undefined): Current {
    const spanId = this.#random.hex(8);
    if (parent !== undefined) return { traceId: parent.traceId, spanId, isKept: parent.isKept };
    const traceId = this.#random.hex(16);
    return { traceId, spanId, isKept: isWithin(traceId, this.#share) };
  }
}

/** Whether a trace is among the share that is kept: by the last 56 bits of its id, as other programs decide it. */
function isWithin(traceId: string, share: number): boolean {
  return share >= 1 || Number.parseInt(traceId.slice(-14), 16) < share * 2 ** 56;
}
