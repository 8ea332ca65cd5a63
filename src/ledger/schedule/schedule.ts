import type { Json } from "../../base/canonical-json.ts";
import type { LedgerContext } from "../context.ts";
import { SlotTables } from "./fire-times.ts";
import type { OpenCircuit } from "./fire-times.ts";

/** Which fire times had their run, which alerts people have had, and which circuits are open. */
export class Schedule {
  readonly #context: LedgerContext;
  readonly #slots: SlotTables;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#slots = new SlotTables(context.database);
  }

  /** Records that a slot fired. False when it, or a later one since the last rewinding, has fired already. */
  async claim(job: string, slot: string): Promise<boolean> {
    return await this.#context.write(() => this.#slots.claimSlot(job, slot, this.#context.now));
  }

  /** Sets the last slot of a job back after the clock was set back; slots that fired stay refused. */
  async rewind(job: string, slot: string): Promise<void> {
    await this.#context.write(() => this.#slots.rewindSlot(job, slot, this.#context.now));
  }

  /** Records that a fire time needs no run any more; with `earlier`, those before it neither. */
  async finish(job: string, slot: string, earlier = false): Promise<void> {
    await this.#context.write(() => this.#slots.finishFireTime(job, slot, this.#context.now, earlier));
  }

  async unfinished(job: string): Promise<string[]> {
    return this.#context.read(() => this.#slots.unfinishedFireTimes(job));
  }

  async last(job: string): Promise<string | undefined> {
    return this.#context.read(() => this.#slots.lastSlot(job));
  }

  async alerts(): Promise<Map<string, { since: string; body: Json; sent: boolean }>> {
    return this.#context.read(() => this.#slots.notices());
  }

  async setAlert(key: string, body: Json): Promise<void> {
    await this.#context.write(() => this.#slots.setNotice(key, body, this.#context.now));
  }

  async alertSent(key: string): Promise<void> {
    await this.#context.write(() => this.#slots.noticeSent(key, this.#context.now));
  }

  async dropAlert(key: string): Promise<void> {
    await this.#context.write(() => this.#slots.dropNotice(key));
  }

  /** Circuits that are open, as far as the last runs know. */
  async openCircuits(): Promise<OpenCircuit[]> {
    return this.#context.read(() => this.#slots.openCircuits());
  }

  /** Notes that the circuit of a service is open from now on, or still. */
  async noteOpenCircuit(service: string, reason: string, probeAt: string): Promise<void> {
    await this.#context.write(() =>
      this.#slots.noteOpenCircuit({ service, since: this.#context.now, reason, probeAt }),
    );
  }

  async closeCircuit(service: string): Promise<void> {
    await this.#context.write(() => this.#slots.closeCircuit(service));
  }
}
