import { toleranceMs, type ServiceTime, type TrustedTime } from "../../base/trusted-time.ts";
import { toInstant } from "../../base/clock.ts";
import type { LedgerContext } from "../context.ts";
import { stored } from "../database/damage.ts";
import { correctStamps, type Correction } from "./correct-stamps.ts";

/** The key of `meta` that holds the newest stamp of the ledger. */
export const newestKey = "newest";
/** The key of `meta` that holds what each service last said the time is. */
export const serviceTimesKey = "service-times";
const lastTrustedKey = "last-trusted";

/** The newest stamp in epoch milliseconds, and what the services said: what a clock is compared with. */
export interface KnownTimes {
  newest: number;
  kept: ServiceTime[];
}

/** What `meta` says of it: on a connection that writes or on one that only reads. */
export function knownTimes(meta: (key: string) => string | undefined): KnownTimes {
  const newest = meta(newestKey);
  return {
    newest: newest === undefined ? 0 : Date.parse(newest),
    kept: Object.entries(keptIn(meta(serviceTimesKey))).map(([service, { time }]) => ({ service, time })),
  };
}

/** The last moment at which the clock was trusted, in epoch milliseconds; undefined where it never was. */
export function lastTrusted(meta: (key: string) => string | undefined): number | undefined {
  const at = meta(lastTrustedKey);
  return at === undefined ? undefined : Date.parse(at);
}

/** By the service: its time, and the stamp at which it was read. */
type Kept = Record<string, { time: number; readAt: string }>;

function keptIn(text: string | undefined): Kept {
  return text === undefined ? {} : stored<Kept>(text);
}

/** The times that the ledger knows, and the correction of stamps that a wrong clock wrote. */
export class LedgerTime {
  readonly #context: LedgerContext;

  constructor(context: LedgerContext) {
    this.#context = context;
  }

  get known(): KnownTimes {
    return knownTimes((key) => this.#context.meta(key));
  }

  /**
   * Keeps what services said to this command. `agreed`: the clock agrees with them; then an earlier word of another
   * service that lies in the future is wrong, and goes.
   */
  async keep(read: readonly ServiceTime[], agreed: TrustedTime | undefined): Promise<void> {
    await this.#context.write(() => {
      const readAt = this.#context.now;
      const before = Object.entries(keptIn(this.#context.meta(serviceTimesKey)));
      const right = before.filter(([, { time }]) => agreed === undefined || time <= agreed.epochMs);
      const now = read.map(({ service, time }) => [service, { time, readAt }] as const);
      this.#put(serviceTimesKey, JSON.stringify(Object.fromEntries([...right, ...now])));
      // While the ledger holds entries of the future, nothing says when its last ones were written.
      if (agreed !== undefined && this.known.newest - agreed.epochMs <= toleranceMs)
        this.#put(lastTrustedKey, toInstant(agreed.epochMs));
    });
  }

  /** The last moment at which the clock was trusted, in epoch milliseconds; undefined where it never was. */
  get lastTrusted(): number | undefined {
    return lastTrusted((key) => this.#context.meta(key));
  }

  /**
   * Corrects every stamp that lies after a moment that the services agree with, by a person's decision, with an audit
   * entry. Audit entries keep the time that they bear: the entry says which of them are wrong, and by how much.
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
