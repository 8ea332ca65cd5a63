import type { Json } from "../../base/canonical-json.ts";
import type { LedgerContext } from "../context.ts";
import { lastTrusted } from "../time/time.ts";
import { AlertTables, DeliveryTables, type ToldAlert, type Delivery, type DeliveryKind } from "./alerts.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import type { Row } from "../tables.ts";
import type { OpenCircuitTable } from "./tables.ts";

export class Schedule {
  readonly #context: LedgerContext;
  readonly #fireTimes: FireTimeTables;
  readonly #alerts: AlertTables;
  readonly #deliveries: DeliveryTables;
  readonly #circuits: OpenCircuitTables;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#fireTimes = new FireTimeTables(context.database);
    this.#alerts = new AlertTables(context.database);
    this.#deliveries = new DeliveryTables(context.database);
    this.#circuits = new OpenCircuitTables(context.database);
  }

  /** False if the job already fired at this time, or at a later one since the last `rewind`. */
  async claim(job: string, fireTime: string): Promise<boolean> {
    return await this.#context.write(() =>
      this.#fireTimes.claim(job, fireTime, this.#context.now, lastTrusted((key) => this.#context.meta(key)) ?? 0),
    );
  }

  /** Moves the last fire time back after the clock was set back. Times that already fired stay refused. */
  async rewind(job: string, fireTime: string): Promise<void> {
    await this.#context.write(() => this.#fireTimes.rewind(job, fireTime, this.#context.now));
  }

  /** This fire time needs no more run. `earlier`: neither do all times before it. */
  async finish(job: string, fireTime: string, earlier = false): Promise<void> {
    await this.#context.write(() => this.#fireTimes.finish(job, fireTime, this.#context.now, earlier));
  }

  async unfinished(job: string): Promise<string[]> {
    return this.#context.read(() => this.#fireTimes.unfinished(job));
  }

  async last(job: string): Promise<string | undefined> {
    return this.#context.read(() => this.#fireTimes.last(job));
  }

  /** The states at the last check. `sent`: somebody got an alert. */
  async alerts(): Promise<Map<string, { since: string; body: Json; sent: boolean }>> {
    return this.#context.read(() => this.#alerts.all());
  }

  /** Replaces the current states. A state that continues keeps its `since`. Sent alerts of ended states stay known. */
  async standAlerts(states: readonly { key: string; body: Json }[]): Promise<void> {
    await this.#context.write(() => this.#alerts.stand(states, this.#context.now));
  }

  async toldAlerts(): Promise<ToldAlert[]> {
    return this.#context.read(() => this.#alerts.told());
  }

  async tellAlerts(
    channel: string,
    told: readonly { key: string; since: string; body: Json }[],
    ended: readonly string[],
  ): Promise<void> {
    await this.#context.write(() => {
      this.#alerts.tell(channel, told, this.#context.now);
      this.#alerts.forget(channel, ended);
    });
  }

  /** These states became smaller or no longer concern the channel. It sends nothing about that. */
  async untoldAlerts(
    channel: string,
    fewer: readonly { key: string; body: Json }[],
    forgotten: readonly string[],
  ): Promise<void> {
    await this.#context.write(() => {
      this.#alerts.lower(channel, fewer);
      this.#alerts.forget(channel, forgotten);
    });
  }

  async onlyDeliveries(channels: readonly string[], switches: readonly string[]): Promise<void> {
    const isKnown = ({ kind, name }: Delivery): boolean => (kind === "channel" ? channels : switches).includes(name);
    const told = await this.toldAlerts();
    if ((await this.deliveries()).every(isKnown) && told.every(({ channel }) => channels.includes(channel))) return;
    await this.#context.write(() => {
      this.#alerts.only(channels);
      this.#deliveries.only("channel", channels);
      this.#deliveries.only("switch", switches);
    });
  }

  async deliveries(): Promise<Delivery[]> {
    return this.#context.read(() => this.#deliveries.all());
  }

  /** Records success (`problem` undefined) or failure. */
  async noteDelivery(kind: DeliveryKind, name: string, problem: string | undefined): Promise<void> {
    await this.#context.write(() => {
      if (problem === undefined) this.#deliveries.done(kind, name, this.#context.now);
      else this.#deliveries.failed(kind, name, problem, this.#context.now);
    });
  }

  /** Clears a failure when the channel has nothing left to send. */
  async clearDelivery(kind: DeliveryKind, name: string): Promise<void> {
    await this.#context.write(() => this.#deliveries.clear(kind, name));
  }

  async openCircuits(): Promise<OpenCircuit[]> {
    return this.#context.read(() => this.#circuits.all());
  }

  /** Records that the circuit of a service is open. It keeps an earlier start. */
  async noteOpenCircuit(service: string, reason: string, probeAt: string): Promise<void> {
    await this.#context.write(() => this.#circuits.note({ service, since: this.#context.now, reason, probeAt }));
  }

  async closeCircuit(service: string): Promise<void> {
    await this.#context.write(() => this.#circuits.close(service));
  }
}

const firedKeptMs = 400 * 86_400_000;

export class FireTimeTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  /** See `Schedule.claim`. Forgets old times, measured by the last trusted time (epoch milliseconds). */
  claim(job: string, fireTime: string, at: string, lastTrusted: number): boolean {
    const run = this.#statements;
    if (run.fired.get(job, fireTime) !== undefined) return false;
    if (run.claim.run(job, fireTime, at).changes !== 1) return false;
    run.fire.run(job, fireTime, at);
    run.forget.run(job, new Date(Math.min(Date.parse(fireTime), lastTrusted) - firedKeptMs).toISOString());
    return true;
  }

  /** `earlier`: the run also did the work of earlier unfinished times. */
  finish(job: string, fireTime: string, at: string, earlier: boolean): void {
    this.#statements.finish.run(at, job, earlier ? "" : fireTime, fireTime);
  }

  /** Fire times whose run is in progress, failed or died, oldest first. */
  unfinished(job: string): string[] {
    return this.#statements.unfinished.all(job).map((row) => row.fire_time);
  }

  rewind(job: string, fireTime: string, at: string): void {
    this.#statements.rewind.run(fireTime, at, job, fireTime);
  }

  last(job: string): string | undefined {
    return this.#statements.last.get(job)?.fire_time;
  }
}

const texts = {
  claim: sql`insert into last_fire_time (job, fire_time, fired_at) values (?, ?, ?)
    on conflict (job) do update set fire_time = excluded.fire_time, fired_at = excluded.fired_at
      where excluded.fire_time > last_fire_time.fire_time`,
  fired: sql<[string, string], Row<"fired_time", "fire_time">>`
    select fire_time from fired_time where job = +? and fire_time = +?`,
  fire: sql`insert into fired_time (job, fire_time, fired_at) values (?, ?, ?)`,
  finish: sql`update fired_time set finished_at = ? where job = +? and fire_time >= ? and fire_time <= ?
    and finished_at is null`,
  unfinished: sql<[string], Row<"fired_time", "fire_time">>`
    select fire_time from fired_time where job = +? and finished_at is null order by fire_time`,
  forget: sql`delete from fired_time where job = +? and fire_time < ?`,
  rewind: sql`update last_fire_time set fire_time = ?, fired_at = ? where job = +? and fire_time > ?`,
  last: sql<[string], Row<"last_fire_time", "fire_time">>`select fire_time from last_fire_time where job = +?`,
};

/** Instants are ISO text. `probeAt` is when one call tries the service again, by the clock of its process. */
export interface OpenCircuit {
  service: string;
  since: string;
  reason: string;
  probeAt: string;
}

/** The row is deleted when the service answers again. Writes run inside the writer's transaction. */
export class OpenCircuitTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      all: sql<[], OpenCircuitTable>`select service, since, reason, probe_at from open_circuit order by service`,
      note: sql`insert into open_circuit (service, since, reason, probe_at) values (?, ?, ?, ?)
        on conflict (service) do update set reason = excluded.reason, probe_at = excluded.probe_at`,
      close: sql`delete from open_circuit where service = +?`,
    });
  }

  all(): OpenCircuit[] {
    return this.#statements.all
      .all()
      .map(({ service, since, reason, probe_at }) => ({ service, since, reason, probeAt: probe_at }));
  }

  note(circuit: OpenCircuit): void {
    this.#statements.note.run(circuit.service, circuit.since, circuit.reason, circuit.probeAt);
  }

  close(service: string): void {
    this.#statements.close.run(service);
  }
}
