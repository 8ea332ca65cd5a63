import { toleranceMs, type ServiceTime, type TrustedTime } from "../../base/trusted-time.ts";
import { toInstant } from "../../base/clock.ts";
import type { LedgerContext } from "../context.ts";
import { stored } from "../database/damage.ts";
import { correctStamps, type Correction } from "./correct-stamps.ts";

export const newestKey = "newest";
export const serviceTimesKey = "service-times";
const lastTrustedKey = "last-trusted";

export interface KnownTimes {
  newest: number;
  kept: ServiceTime[];
}

export function knownTimes(meta: (key: string) => string | undefined): KnownTimes {
  const newest = meta(newestKey);
  return {
    newest: newest === undefined ? 0 : Date.parse(newest),
    kept: Object.entries(keptIn(meta(serviceTimesKey))).map(([service, { time }]) => ({ service, time })),
  };
}

/** The last time the clock was trusted, in epoch milliseconds. */
export function lastTrusted(meta: (key: string) => string | undefined): number | undefined {
  const at = meta(lastTrustedKey);
  return at === undefined ? undefined : Date.parse(at);
}

type Kept = Record<string, { time: number; readAt: string }>;

function keptIn(text: string | undefined): Kept {
  return text === undefined ? {} : stored<Kept>(text);
}

export class LedgerTime {
  readonly #context: LedgerContext;

  constructor(context: LedgerContext) {
    this.#context = context;
  }

  get known(): KnownTimes {
    return knownTimes((key) => this.#context.meta(key));
  }

  /**
   * `agreed`: the clock agrees with the services, so an earlier time that is in the future was wrong and is removed.
   */
  async keep(read: readonly ServiceTime[], agreed: TrustedTime | undefined): Promise<void> {
    await this.#context.write(() => {
      const readAt = this.#context.now;
      const before = Object.entries(keptIn(this.#context.meta(serviceTimesKey)));
      const right = before.filter(([, { time }]) => agreed === undefined || time <= agreed.epochMs);
      const now = read.map(({ service, time }) => [service, { time, readAt }] as const);
      this.#put(serviceTimesKey, JSON.stringify(Object.fromEntries([...right, ...now])));
      // While entries are in the future, nobody knows when the last ones were written.
      if (agreed !== undefined && this.known.newest - agreed.epochMs <= toleranceMs)
        this.#put(lastTrustedKey, toInstant(agreed.epochMs));
    });
  }

  get lastTrusted(): number | undefined {
    return lastTrusted((key) => this.#context.meta(key));
  }

  /**
   * Corrects stamps after a confirmed time, on a person's decision. Audit entries stay; a new one lists the wrong ones.
   */
  async correct(time: TrustedTime, whose: { by: string; reason: string }): Promise<Correction> {
    const corrected = await this.#context.write(() => {
      const at = toInstant(time.epochMs);
      const correction = correctStamps(this.#context.database, time, this.known.newest);
      this.#put(newestKey, at);
      const { rows, first, last, spans } = correction;
      if (rows > 0 || spans.length > 0) {
        const body = { ...whose, rows, first, last, spans: spans.map((span) => ({ ...span })) };
        this.#context.audit.append({ at, kind: "clock-corrected", subject: "ledger", body });
      }
      return correction;
    });
    this.#context.flushHeads();
    return corrected;
  }

  #put(key: string, value: string): void {
    this.#context.database
      .prepare("insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value")
      .run(key, value);
  }
}
