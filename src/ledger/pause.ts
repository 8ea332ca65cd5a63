import { exitCodes, Problem } from "../base/errors.ts";
import type { Paused } from "../report/status.ts";
import type { LedgerContext } from "./context.ts";
import type { PerTransaction } from "./database/read-together.ts";
import { stored } from "./database/damage.ts";

/** The code of the problem, and of each record that waits because of the pause. */
export const pausedCode = "paused" as const;

export const pauseKey = "pause";

export interface PauseWord extends Paused {
  isPaused: boolean;
}

export function pauseOn(kept: string | undefined): Paused | undefined {
  const word = wordIn(kept);
  if (word?.isPaused !== true) return undefined;
  const { since, by, reason } = word;
  return { since, by, reason };
}

function wordIn(kept: string | undefined): PauseWord | undefined {
  return kept === undefined ? undefined : stored<PauseWord>(kept);
}

export class Pause {
  readonly #context: LedgerContext;
  readonly #kept: PerTransaction<string | undefined>;
  #refused = 0;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#kept = context.perTransaction();
  }

  now(): Paused | undefined {
    return pauseOn(this.#kept.get(() => this.#context.meta(pauseKey)));
  }

  /** Calls that this process did not send because of the pause. */
  get refused(): number {
    return this.#refused;
  }

  /** Throws a Problem if paused. Call it inside the transaction of the intent, so that a committed pause counts. */
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

  /** Calls with a committed intent and no outcome yet, in any process. 0 if no process holds the run lock. */
  get goingOn(): number {
    const sending =
      "select count(*) from operation where state in ('sending', 'unknown', 'parked') and state = 'sending'";
    const count = this.#context.read(() => Number(this.#context.database.prepare(sending).pluck().get()));
    return count > 0 && this.#context.isRunOn ? count : 0;
  }

  /** Writes an audit entry. If the ledger is already paused, nothing changes, and the earlier pause is returned. */
  async begin(whose: { by: string; reason: string }): Promise<PauseWord & { isNew: boolean }> {
    return await this.#say(true, whose);
  }

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
