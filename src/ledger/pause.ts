import { exitCodes, Problem } from "../base/errors.ts";
import type { Paused } from "../report/status.ts";
import type { LedgerContext } from "./context.ts";
import type { PerTransaction } from "./database/per-transaction.ts";
import { stored } from "./database/damage.ts";

/** The code of what is not sent because of the pause: of the problem, and of each record that waits for its end. */
export const pausedCode = "paused" as const;

/** The key of `meta` under which the last word of a person on it is kept. */
export const pauseKey = "pause";

/** The last word: paused or resumed, since when, by whom, and why. */
export interface PauseWord extends Paused {
  isPaused: boolean;
}

/** The pause that is on, by what `meta` holds. */
export function pauseOn(kept: string | undefined): Paused | undefined {
  const word = wordIn(kept);
  if (word?.isPaused !== true) return undefined;
  const { since, by, reason } = word;
  return { since, by, reason };
}

/** A word as `meta` holds it; undefined where nobody ever paused. */
function wordIn(kept: string | undefined): PauseWord | undefined {
  return kept === undefined ? undefined : stored<PauseWord>(kept);
}

/** Where nothing may be written to the services: a person pauses it, and a person resumes it. */
export class Pause {
  readonly #context: LedgerContext;
  readonly #kept: PerTransaction<string | undefined>;
  #refused = 0;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#kept = context.perTransaction();
  }

  /** The pause that is on. */
  now(): Paused | undefined {
    return pauseOn(this.#kept.get(() => this.#context.meta(pauseKey)));
  }

  /** It grows with each call that this process did not send because of the pause. */
  get refused(): number {
    return this.#refused;
  }

  /** Throws a Problem where it is paused. Inside the transaction of an intent, so that a pause that is committed counts. */
  requireNone(): void {
    if (this.now() === undefined) return;
    this.#refused += 1;
    throw new Problem({
      code: pausedCode,
      message: "crm-sync is paused, so nothing was sent",
      cure: "`crm-sync resume` ends the pause; the next run sends it then",
      exitCode: exitCodes.held,
    });
  }

  /**
   * Calls that had begun and go on now, in whatever process: their intent is committed and their outcome is not. None of
   * a process that ended, which leaves the run lock to others.
   */
  get goingOn(): number {
    const sending =
      "select count(*) from operation where state in ('sending', 'unknown', 'parked') and state = 'sending'";
    const count = this.#context.read(() => Number(this.#context.database.prepare(sending).pluck().get()));
    return count > 0 && this.#context.isRunOn ? count : 0;
  }

  /** Pauses, with an audit entry. Where it is paused already nothing changes. Answers the word that counts. */
  async begin(whose: { by: string; reason: string }): Promise<PauseWord & { isNew: boolean }> {
    return await this.#say(true, whose);
  }

  /** Resumes, with an audit entry. Where it is not paused nothing changes: the word is undefined if it never was. */
  async end(whose: { by: string; reason: string }): Promise<(PauseWord & { isNew: boolean }) | undefined> {
    return this.#word() === undefined ? undefined : await this.#say(false, whose);
  }

  #word(): PauseWord | undefined {
    return wordIn(this.#context.meta(pauseKey));
  }

  async #say(
    isPaused: boolean,
    { by, reason }: { by: string; reason: string },
  ): Promise<PauseWord & { isNew: boolean }> {
    const said = await this.#context.write(() => {
      const before = this.#word();
      if (before?.isPaused === isPaused) return { ...before, isNew: false };
      const at = this.#context.now;
      const word = { isPaused, since: at, by, reason };
      this.#context.database
        .prepare("insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value")
        .run(pauseKey, this.#kept.put(JSON.stringify(word)));
      const body = { by, reason, ...(isPaused ? {} : { pausedSince: before?.since ?? null }) };
      this.#context.audit.append({ at, kind: isPaused ? "paused" : "resumed", subject: "ledger", body });
      return { ...word, isNew: true };
    });
    this.#context.flushHeads();
    return said;
  }
}
