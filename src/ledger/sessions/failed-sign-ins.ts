import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { SideFile } from "./side-file.ts";

/** How many failures are let pass at once, and the longest that the next try has to wait after more. */
interface Patience {
  free: number;
  longestMs: number;
}

/** Whoever knows a name can have it wait, so a name waits less long than an address. */
const patience: Record<"address" | "name", Patience> = {
  address: { free: 5, longestMs: 15 * 60_000 },
  name: { free: 5, longestMs: 60_000 },
};
const forgottenAfter = 60 * 60_000;
const mostKept = 50_000;

/** Log-ins that failed, by address and by name: each failure after the first few doubles the wait for the next try. */
export class FailedSignIns {
  readonly #file: SideFile;
  readonly #clock: Pick<Clock, "now">;

  constructor(file: SideFile, clock: Pick<Clock, "now">) {
    this.#file = file;
    this.#clock = clock;
  }

  /**
   * Lets a try through, which counts as failed until it is said to be good, or says how long it has to wait. So many
   * tries at the same moment are no way past the limit.
   */
  tryNow(address: string, name: string): { waitMs: number } {
    const now = this.#clock.now();
    return this.#file.use((database) => {
      database
        .prepare<[number, number]>("delete from failure where last_at < ? or last_at > ?")
        .run(now - forgottenAfter, now + forgottenAfter);
      const find = database.prepare<[string], { count: number; last_at: number }>(
        "select * from failure where key = ?",
      );
      const keys = [
        { key: `address:${address}`, ...patience.address },
        { key: keyOfName(name), ...patience.name },
      ];
      const waits = keys.map(({ key, free, longestMs }) => {
        const row = find.get(key);
        if (row === undefined || row.count < free) return 0;
        const pause = Math.min(longestMs, 1_000 * 2 ** Math.min(row.count - free, 20));
        // By a clock that was set back nobody waits longer than the pause.
        return Math.min(pause, row.last_at + pause - now);
      });
      const waitMs = Math.max(0, ...waits);
      if (waitMs > 0) return { waitMs };
      const add = database.prepare<[string, number]>(
        `insert into failure (key, count, last_at) values (?, 1, ?)
         on conflict (key) do update set count = count + 1, last_at = excluded.last_at`,
      );
      for (const { key } of keys) add.run(key, now);
      database
        .prepare<[number]>(
          "delete from failure where key in (select key from failure order by last_at desc limit -1 offset ?)",
        )
        .run(mostKept);
      return { waitMs: 0 };
    });
  }

  /** The try was good: the name begins anew, and of the address this one failure is taken off. */
  wasGood(address: string, name: string): void {
    this.#file.use((database) => {
      database.prepare<[string]>("delete from failure where key = ?").run(keyOfName(name));
      database.prepare<[string]>("update failure set count = count - 1 where key = ?").run(`address:${address}`);
    });
  }
}

/** People type a password in the place of a name, so what they typed is not kept. */
function keyOfName(name: string): string {
  return `name:${createHash("sha256").update(name).digest("hex")}`;
}
