import { type Json, parseJson } from "../../base/canonical-json.ts";
import type { LedgerContext } from "../context.ts";
import { lastTrusted } from "../time/time.ts";
import { prepared, sql } from "../database/statements.ts";
import type { Row } from "../tables.ts";
import type { AlertTable, AlertToldTable, DeliveryTable, OpenCircuitTable } from "./tables.ts";

interface State {
  key: string;
  body: Json;
}

type AlertState = State & { since: string };

interface ToldAlert extends AlertState {
  channel: string;
  toldAt: string;
}

type DeliveryKind = DeliveryTable["kind"];

interface Delivery {
  kind: DeliveryKind;
  name: string;
  doneAt: string | null;
  problem: string | null;
  failingSince: string | null;
}

/** Instants are ISO text. `probeAt` is when one call tries the service again, by the clock of its process. */
export interface OpenCircuit {
  service: string;
  since: string;
  reason: string;
  probeAt: string;
}

const firedKeptMs = 400 * 86_400_000;

export class Schedule {
  readonly #context: LedgerContext;
  readonly #statements;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#statements = prepared(context.database, texts);
  }

  /** False if the job already fired at this time, or at a later one since the last `rewind`. Forgets old times. */
  async claim(job: string, fireTime: string): Promise<boolean> {
    return await this.#context.write(() => {
      const run = this.#statements;
      const at = this.#context.now;
      const trusted = lastTrusted((key) => this.#context.meta(key)) ?? 0;
      if (run.fired.get(job, fireTime) !== undefined) return false;
      if (run.claim.run(job, fireTime, at).changes !== 1) return false;
      run.fire.run(job, fireTime, at);
      run.forget.run(job, new Date(Math.min(Date.parse(fireTime), trusted) - firedKeptMs).toISOString());
      return true;
    });
  }

  /** Moves the last fire time back after the clock was set back. Times that already fired stay refused. */
  async rewind(job: string, fireTime: string): Promise<void> {
    await this.#context.write(() => this.#statements.rewind.run(fireTime, this.#context.now, job, fireTime));
  }

  /** This fire time needs no more run. `earlier`: neither do all times before it. */
  async finish(job: string, fireTime: string, earlier = false): Promise<void> {
    await this.#context.write(() =>
      this.#statements.finish.run(this.#context.now, job, earlier ? "" : fireTime, fireTime),
    );
  }

  /** Fire times whose run is in progress, failed or died, oldest first. */
  async unfinished(job: string): Promise<string[]> {
    return this.#context.read(() => this.#statements.unfinished.all(job).map((row) => row.fire_time));
  }

  async last(job: string): Promise<string | undefined> {
    return this.#context.read(() => this.#statements.last.get(job)?.fire_time);
  }

  /** The states at the last check. `sent`: somebody got an alert. */
  async alerts(): Promise<Map<string, { since: string; body: Json; sent: boolean }>> {
    return this.#context.read(() => {
      const rows = this.#statements.alerts.all();
      return new Map(
        rows.map(({ key, since, body, sent_at: at }) => [key, { since, body: parseJson(body), sent: at !== null }]),
      );
    });
  }

  /** Replaces the current states. A state that continues keeps its `since`. Sent alerts of ended states stay known. */
  async standAlerts(states: readonly State[]): Promise<void> {
    await this.#context.write(() => {
      for (const { key, body } of states) this.#statements.stand.run(key, this.#context.now, JSON.stringify(body));
      this.#statements.standOnly.run(JSON.stringify(states.map(({ key }) => key)));
    });
  }

  async toldAlerts(): Promise<ToldAlert[]> {
    const rows = this.#context.read(() => this.#statements.told.all());
    return rows.map(({ body, told_at: toldAt, ...row }) => ({ ...row, body: parseJson(body), toldAt }));
  }

  async tellAlerts(channel: string, told: readonly AlertState[], ended: readonly string[]): Promise<void> {
    await this.#context.write(() => {
      const at = this.#context.now;
      for (const { key, since, body } of told) {
        this.#statements.tell.run({ channel, key, since, body: JSON.stringify(body), at });
        this.#statements.sent.run(at, key);
      }
      for (const key of ended) this.#statements.untell.run(channel, key);
    });
  }

  /** These states became smaller or no longer concern the channel. It sends nothing about that. */
  async untoldAlerts(channel: string, fewer: readonly State[], forgotten: readonly string[]): Promise<void> {
    await this.#context.write(() => {
      for (const { key, body } of fewer) this.#statements.lower.run(JSON.stringify(body), channel, key);
      for (const key of forgotten) this.#statements.untell.run(channel, key);
    });
  }

  async onlyDeliveries(channels: readonly string[], switches: readonly string[]): Promise<void> {
    const isKnown = ({ kind, name }: Delivery): boolean => (kind === "channel" ? channels : switches).includes(name);
    const told = await this.toldAlerts();
    if ((await this.deliveries()).every(isKnown) && told.every(({ channel }) => channels.includes(channel))) return;
    await this.#context.write(() => {
      this.#statements.tellOnly.run(JSON.stringify(channels));
      this.#statements.deliverOnly.run("channel", JSON.stringify(channels));
      this.#statements.deliverOnly.run("switch", JSON.stringify(switches));
    });
  }

  async deliveries(): Promise<Delivery[]> {
    const rows = this.#context.read(() => this.#statements.deliveries.all());
    return rows.map(({ done_at: doneAt, failing_since: failingSince, ...row }) => ({ ...row, doneAt, failingSince }));
  }

  /** Records success (`problem` undefined) or failure. */
  async noteDelivery(kind: DeliveryKind, name: string, problem: string | undefined): Promise<void> {
    await this.#context.write(() => {
      const at = this.#context.now;
      if (problem === undefined) this.#statements.delivered.run({ kind, name, at });
      else this.#statements.notDelivered.run({ kind, name, problem, at });
    });
  }

  /** Clears a failure when the channel has nothing left to send. */
  async clearDelivery(kind: DeliveryKind, name: string): Promise<void> {
    await this.#context.write(() => this.#statements.clearDelivery.run(kind, name));
  }

  async openCircuits(): Promise<OpenCircuit[]> {
    const rows = this.#context.read(() => this.#statements.circuits.all());
    return rows.map(({ probe_at: probeAt, ...row }) => ({ ...row, probeAt }));
  }

  /** Records that the circuit of a service is open. It keeps an earlier start. */
  async noteOpenCircuit(service: string, reason: string, probeAt: string): Promise<void> {
    await this.#context.write(() => this.#statements.openCircuit.run(service, this.#context.now, reason, probeAt));
  }

  async closeCircuit(service: string): Promise<void> {
    await this.#context.write(() => this.#statements.closeCircuit.run(service));
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
  alerts: sql<[], AlertTable>`select key, since, body, sent_at from alert order by key`,
  stand: sql`insert into alert (key, since, body) values (?, ?, ?)
    on conflict (key) do update set body = excluded.body where body <> excluded.body`,
  sent: sql`update alert set sent_at = ? where key = +?`,
  standOnly: sql`delete from alert where key not in (select value from json_each(?))`,
  told: sql<[], AlertToldTable>`select * from alert_told order by channel, key`,
  tell: sql`insert into alert_told (channel, key, since, body, told_at) values (@channel, @key, @since, @body, @at)
    on conflict (channel, key) do update set since = @since, body = @body, told_at = @at`,
  lower: sql`update alert_told set body = ? where channel = +? and key = +?`,
  untell: sql`delete from alert_told where channel = +? and key = +?`,
  tellOnly: sql`delete from alert_told where channel not in (select value from json_each(?))`,
  deliveries: sql<[], DeliveryTable>`select * from delivery order by kind, name`,
  delivered: sql`insert into delivery (kind, name, done_at) values (@kind, @name, @at)
    on conflict (kind, name) do update set done_at = @at, problem = null, failing_since = null`,
  notDelivered: sql`insert into delivery (kind, name, problem, failing_since) values (@kind, @name, @problem, @at)
    on conflict (kind, name) do update set problem = @problem, failing_since = coalesce(failing_since, @at)`,
  clearDelivery: sql`update delivery set problem = null, failing_since = null where kind = +? and name = +?`,
  deliverOnly: sql`delete from delivery where kind = +? and name not in (select value from json_each(?))`,
  circuits: sql<[], OpenCircuitTable>`select service, since, reason, probe_at from open_circuit order by service`,
  openCircuit: sql`insert into open_circuit (service, since, reason, probe_at) values (?, ?, ?, ?)
    on conflict (service) do update set reason = excluded.reason, probe_at = excluded.probe_at`,
  closeCircuit: sql`delete from open_circuit where service = +?`,
};
