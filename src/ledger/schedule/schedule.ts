import type { Json } from "../../base/canonical-json.ts";
import type { LedgerContext } from "../context.ts";
import { lastTrusted } from "../time/time.ts";
import { AlertTables } from "./alerts.ts";
import type { ToldAlert } from "./alerts.ts";
import { DeliveryTables } from "./deliveries.ts";
import type { Delivery, DeliveryKind } from "./deliveries.ts";
import { FireTimeTables } from "./fire-times.ts";
import { OpenCircuitTables } from "./open-circuits.ts";
import type { OpenCircuit } from "./open-circuits.ts";

/** Which fire times had their run, which alerts people have had, and which circuits are open. */
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

  /** Records that a job fires. False when it did so at this time, or at a later one since the last rewinding. */
  async claim(job: string, fireTime: string): Promise<boolean> {
    return await this.#context.write(() =>
      this.#fireTimes.claim(job, fireTime, this.#context.now, lastTrusted((key) => this.#context.meta(key)) ?? 0),
    );
  }

  /** Sets the last fire time of a job back after the clock was set back; those that fired stay refused. */
  async rewind(job: string, fireTime: string): Promise<void> {
    await this.#context.write(() => this.#fireTimes.rewind(job, fireTime, this.#context.now));
  }

  /** Records that a fire time needs no run any more; with `earlier`, those before it neither. */
  async finish(job: string, fireTime: string, earlier = false): Promise<void> {
    await this.#context.write(() => this.#fireTimes.finish(job, fireTime, this.#context.now, earlier));
  }

  async unfinished(job: string): Promise<string[]> {
    return this.#context.read(() => this.#fireTimes.unfinished(job));
  }

  async last(job: string): Promise<string | undefined> {
    return this.#context.read(() => this.#fireTimes.last(job));
  }

  /** The states that stood at the last look; `sent`: somebody was told of it. */
  async alerts(): Promise<Map<string, { since: string; body: Json; sent: boolean }>> {
    return this.#context.read(() => this.#alerts.all());
  }

  /** These states stand, each since it was first met; others do not. What channels have told of those stays known. */
  async standAlerts(states: readonly { key: string; body: Json }[]): Promise<void> {
    await this.#context.write(() => this.#alerts.stand(states, this.#context.now));
  }

  /** What each channel told of each state last. */
  async toldAlerts(): Promise<ToldAlert[]> {
    return this.#context.read(() => this.#alerts.told());
  }

  /** A channel told of these states as they are now, and of the end of those. */
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

  /** What a channel told of is less now, or concerns it no more: it tells nothing of that. */
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

  /** Forgets what other channels told and how other channels and switches did: they are not configured. */
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

  /** How channels and dead man's switches are doing. */
  async deliveries(): Promise<Delivery[]> {
    return this.#context.read(() => this.#deliveries.all());
  }

  /** A channel or a switch did what it is for, or did not and why. */
  async noteDelivery(kind: DeliveryKind, name: string, problem: string | undefined): Promise<void> {
    await this.#context.write(() => {
      if (problem === undefined) this.#deliveries.done(kind, name, this.#context.now);
      else this.#deliveries.failed(kind, name, problem, this.#context.now);
    });
  }

  /** Nothing waits for a channel that did not deliver: what it had to tell is over. */
  async clearDelivery(kind: DeliveryKind, name: string): Promise<void> {
    await this.#context.write(() => this.#deliveries.clear(kind, name));
  }

  /** Circuits that are open, as far as the last runs know. */
  async openCircuits(): Promise<OpenCircuit[]> {
    return this.#context.read(() => this.#circuits.all());
  }

  /** Notes that the circuit of a service is open from now on, or still. */
  async noteOpenCircuit(service: string, reason: string, probeAt: string): Promise<void> {
    await this.#context.write(() => this.#circuits.note({ service, since: this.#context.now, reason, probeAt }));
  }

  async closeCircuit(service: string): Promise<void> {
    await this.#context.write(() => this.#circuits.close(service));
  }
}
