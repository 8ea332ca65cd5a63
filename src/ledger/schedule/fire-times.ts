import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { Row } from "../tables.ts";

/** How far back fire times are remembered one by one, in milliseconds: 400 days. */
const firedKeptMs = 400 * 86_400_000;

/** Which fire times of a schedule had their run. Writes run inside the writer's transaction. */
export class FireTimeTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /**
   * Records that a job fires. False when it fired at this time before, or at a later one since the last rewinding. What
   * it forgets is old by the last time that was trusted, in epoch milliseconds.
   */
  claim(job: string, fireTime: string, at: string, lastTrusted: number): boolean {
    const run = this.#statements;
    if (run.fired.get(job, fireTime) !== undefined) return false;
    if (run.claim.run(job, fireTime, at).changes !== 1) return false;
    run.fire.run(job, fireTime, at);
    run.forget.run(job, new Date(Math.min(Date.parse(fireTime), lastTrusted) - firedKeptMs).toISOString());
    return true;
  }

  /** The run of a fire time came to its end; `earlier`: it did what the unfinished ones before it were for. */
  finish(job: string, fireTime: string, at: string, earlier: boolean): void {
    this.#statements.finish.run(at, job, earlier ? "" : fireTime, fireTime);
  }

  /** Fire times whose run is on, failed, or ended with its process; the oldest first. */
  unfinished(job: string): string[] {
    return this.#statements.unfinished.all(job).map((row) => row.fire_time);
  }

  /** Sets the last fire time back after the clock was set back. What fired stays fired. */
  rewind(job: string, fireTime: string, at: string): void {
    this.#statements.rewind.run(fireTime, at, job, fireTime);
  }

  last(job: string): string | undefined {
    return this.#statements.last.get(job)?.fire_time;
  }
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    claim: () =>
      database.prepare(
        `insert into last_fire_time (job, fire_time, fired_at) values (?, ?, ?)
       on conflict (job) do update set fire_time = excluded.fire_time, fired_at = excluded.fired_at
         where excluded.fire_time > last_fire_time.fire_time`,
      ),
    fired: () =>
      database.prepare<[string, string], Row<"fired_time", "fire_time">>(
        "select fire_time from fired_time where job = +? and fire_time = +?",
      ),
    fire: () => database.prepare("insert into fired_time (job, fire_time, fired_at) values (?, ?, ?)"),
    finish: () =>
      database.prepare(
        `update fired_time set finished_at = ? where job = +? and fire_time >= ? and fire_time <= ?
          and finished_at is null`,
      ),
    unfinished: () =>
      database.prepare<[string], Row<"fired_time", "fire_time">>(
        "select fire_time from fired_time where job = +? and finished_at is null order by fire_time",
      ),
    forget: () => database.prepare("delete from fired_time where job = +? and fire_time < ?"),
    rewind: () =>
      database.prepare("update last_fire_time set fire_time = ?, fired_at = ? where job = +? and fire_time > ?"),
    last: () =>
      database.prepare<[string], Row<"last_fire_time", "fire_time">>(
        "select fire_time from last_fire_time where job = +?",
      ),
  });
}
