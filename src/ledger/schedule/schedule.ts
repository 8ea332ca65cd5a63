import type { Json } from "../../base/canonical-json.ts";
import type { LedgerContext } from "../context.ts";
import { AlertTables } from "./alerts.ts";
import { FireTimeTables } from "./fire-times.ts";
import { OpenCircuitTables } from "./open-circuits.ts";
import type { OpenCircuit } from "./open-circuits.ts";

/** Which fire times had their run, which alerts people have had, and which circuits are open. */
export class Schedule {
  readonly #context: LedgerContext;
  readonly #fireTimes: FireTimeTables;
  readonly #alerts: AlertTables;
  readonly #circuits: OpenCircuitTables;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#fireTimes = new FireTimeTables(context.database);
    this.#alerts = new AlertTables(context.database);
    this.#circuits = new OpenCircuitTables(context.database);
  }

  /** Records that a job fires. False when it did so at this time, or at a later one since the last rewinding. */
  async claim(job: string, fireTime: string): Promise<boolean> {
    return await this.#context.write(() => this.#fireTimes.claim(job, fireTime, this.#context.now));
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

  async alerts(): Promise<Map<string, { since: string; body: Json; sent: boolean }>> {
    return this.#context.read(() => this.#alerts.all());
  }

  async setAlert(key: string, body: Json): Promise<void> {
    await this.#context.write(() => this.#alerts.set(key, body, this.#context.now));
  }

  async alertSent(key: string): Promise<void> {
    await this.#context.write(() => this.#alerts.sent(key, this.#context.now));
  }

  async dropAlert(key: string): Promise<void> {
    await this.#context.write(() => this.#alerts.drop(key));
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
