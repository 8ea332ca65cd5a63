import { copyFileSync, rmSync } from "node:fs";
import { Problem } from "../../src/base/errors.ts";
import { copyWhileWritten } from "../../src/ledger/database/backup.ts";
import { rowsOf } from "../support/world/start.ts";
import type { Life } from "./life.ts";

/**
 * When older copies of the ledger are put back: whenever it is, or where the platform holds what the CRM says, so that
 * nothing has to wait for a person afterwards.
 */
export type Restores = "any" | "agreed";

/** Codes of orders that wait for a person, since nobody knows what of them was done before the ledger was restored. */
const waitingCodes = [
  "order.shown-in-part",
  "order.shown-otherwise",
  "order.amended-elsewhere",
  "order.shown-elsewhere",
  "order.placed-before-restore",
  "order.form-lost",
];

/** Older copies of a ledger that are put back. */
export class Backups {
  /** So often one was. */
  restores = 0;
  readonly #life: Life;
  readonly #restoring: Restores | undefined;
  #backup = false;

  constructor(life: Life, restoring: Restores | undefined) {
    this.#life = life;
    this.#restoring = restoring;
  }

  get isThere(): boolean {
    return this.#backup;
  }

  /** Orders that wait for a person since a restore in the middle of something. */
  waiting(): number {
    if (this.#restoring !== "any") return 0;
    const codes = waitingCodes.map((code) => `'${code}'`).join(", ");
    return rowsOf(this.#life.path, `select 1 from record where deferred_code in (${codes})`).length;
  }

  /**
   * What a rebuild says that it leaves where it is: what somebody was given since the backup and is not to have any
   * more, and what was placed for customers that the CRM gives no more.
   */
  isLeft(text: string): boolean {
    if (this.#restoring !== "any" || this.restores === 0) return false;
    if (/^seats: .* holds \S+ \(.*\), and is not to$/u.test(text)) return true;
    const extra = /^products: nobody wants (.*)$/u.exec(text)?.[1]?.split(", ") ?? [];
    const gone = this.#life.crm.customers.filter((customer) => customer.gone).map(({ id }) => id);
    return extra.length > 0 && extra.every((item) => gone.includes(item.split(" ")[0] ?? ""));
  }

  /** A backup is made, or the one that was made is put back. */
  async backupOrRestore(): Promise<void> {
    if (this.#backup && this.#life.draws.chance(0.5)) await this.restore();
    else if (!this.#backup || this.#life.draws.chance(0.3)) {
      this.#life.stop();
      rmSync(`${this.#life.path}.backup`, { force: true });
      await copyWhileWritten(this.#life.path, `${this.#life.path}.backup`, () => {});
      this.#backup = true;
      this.#life.note("backup");
    }
  }

  /**
   * Puts the older copy back, with what was decided and learned since lost, and has the gap rebuilt by a program that
   * may die on the way, without a writing call.
   */
  async restore(): Promise<void> {
    const draws = this.#life.draws;
    if (this.#restoring === "agreed") {
      this.#life.services.faultRate = 0;
      await this.#life.lastRuns();
    }
    this.#life.stop();
    for (const ending of ["", "-wal", "-shm"]) rmSync(this.#life.path + ending, { force: true });
    copyFileSync(`${this.#life.path}.backup`, this.#life.path);
    this.restores += 1;
    this.#life.note("restored");
    // A call of a program that was killed may still arrive.
    const writes = this.#life.services.writesLeft;
    let diesAt = draws.chance(0.5) ? draws.whole(1, 150) : undefined;
    for (let tries = 0; tries < 4; tries += 1) {
      this.#life.services.faultRate = tries > 0 ? 0 : (draws.pick([0, 0.1]) ?? 0);
      let summary;
      try {
        const engine = await this.#life.program(diesAt, true);
        summary = await engine.rebuild(this.#life.configuration.limits);
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "rebuild.ledger-used") throw error;
        break;
      }
      diesAt = undefined;
      this.#life.note(summary === undefined ? "killed rebuilding" : `rebuilt: exit ${summary.exitCode}`);
      for (const { record, why } of [...(summary?.lost ?? []), ...(summary?.left ?? [])])
        this.#life.story.push(`  ${record}: ${why}`);
      if (summary?.unreadable === 0) break;
    }
    if (this.#life.services.writesLeft !== writes) this.#life.wrong.push("a rebuild sent a writing call");
    this.#life.stop();
    this.#life.services.faultRate = 0;
  }
}
