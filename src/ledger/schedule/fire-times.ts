import type { Json } from "../../base/canonical-json.ts";
import { parseJson } from "../../base/canonical-json.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";

/** How far back fired slots are remembered one by one, in milliseconds: 400 days. */
const firedKeptMs = 400 * 86_400_000;

/**
 * The open circuit of a service. Instants are ISO text; `probeAt` is when one call tries it again, by the clock of its
 * process.
 */
export interface OpenCircuit {
  service: string;
  since: string;
  reason: string;
  probeAt: string;
}

/** Which slots of the schedule fired, which notices people have had, and which circuits are open. */
export class SlotTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** Records that a slot fires. False when it fired before, or one after it did since the last rewinding. */
  claimSlot(job: string, slot: string, at: string): boolean {
    const run = this.#statements;
    if (run.fired.get(job, slot) !== undefined) return false;
    if (run.claimSlot.run(job, slot, at).changes !== 1) return false;
    run.fire.run(job, slot, at);
    run.forget.run(job, new Date(Date.parse(slot) - firedKeptMs).toISOString());
    return true;
  }

  /** The run of a fire time came to its end; `earlier`: it did what the unfinished ones before it were for. */
  finishFireTime(job: string, slot: string, at: string, earlier: boolean): void {
    this.#statements.finish.run(at, job, earlier ? "" : slot, slot);
  }

  /** Fire times whose run is on, failed, or ended with its process; the oldest first. */
  unfinishedFireTimes(job: string): string[] {
    return this.#statements.unfinished.all(job).map((row) => row.slot);
  }

  /** Sets the last slot back after the clock was set back. What fired stays fired. */
  rewindSlot(job: string, slot: string, at: string): void {
    this.#statements.rewindSlot.run(slot, at, job, slot);
  }

  lastSlot(job: string): string | undefined {
    return this.#statements.lastSlot.get(job)?.last_slot;
  }

  notices(): Map<string, { since: string; body: Json; sent: boolean }> {
    return new Map(
      this.#statements.notices
        .all()
        .map((row) => [row.key, { since: row.since, body: parseJson(row.body), sent: row.sent_at !== null }]),
    );
  }

  setNotice(key: string, body: Json, at: string): void {
    this.#statements.setNotice.run(key, at, JSON.stringify(body));
  }

  noticeSent(key: string, at: string): void {
    this.#statements.noticeSent.run(at, key);
  }

  dropNotice(key: string): void {
    this.#statements.dropNotice.run(key);
  }

  openCircuits(): OpenCircuit[] {
    return this.#statements.openCircuits
      .all()
      .map(({ service, since, reason, probe_at }) => ({ service, since, reason, probeAt: probe_at }));
  }

  /** A circuit that was open already keeps the time since when. */
  noteOpenCircuit(circuit: OpenCircuit): void {
    this.#statements.noteOpenCircuit.run(circuit.service, circuit.since, circuit.reason, circuit.probeAt);
  }

  closeCircuit(service: string): void {
    this.#statements.closeCircuit.run(service);
  }
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    claimSlot: () =>
      database.prepare(
        `insert into slot (job, last_slot, fired_at) values (?, ?, ?)
       on conflict (job) do update set last_slot = excluded.last_slot, fired_at = excluded.fired_at where excluded.last_slot > slot.last_slot`,
      ),
    fired: () =>
      database.prepare<[string, string], { slot: string }>("select slot from fired_slot where job = ? and slot = ?"),
    fire: () => database.prepare("insert into fired_slot (job, slot, fired_at) values (?, ?, ?)"),
    finish: () =>
      database.prepare(
        "update fired_slot set finished_at = ? where job = ? and slot >= ? and slot <= ? and finished_at is null",
      ),
    unfinished: () =>
      database.prepare<[string], { slot: string }>(
        "select slot from fired_slot where job = ? and finished_at is null order by slot",
      ),
    forget: () => database.prepare("delete from fired_slot where job = ? and slot < ?"),
    rewindSlot: () => database.prepare("update slot set last_slot = ?, fired_at = ? where job = ? and last_slot > ?"),
    lastSlot: () => database.prepare<[string], { last_slot: string }>("select last_slot from slot where job = ?"),
    notices: () =>
      database.prepare<[], { key: string; since: string; body: string; sent_at: string | null }>(
        "select key, since, body, sent_at from notice order by key",
      ),
    setNotice: () =>
      database.prepare(
        `insert into notice (key, since, body) values (?, ?, ?)
       on conflict (key) do update set body = excluded.body`,
      ),
    noticeSent: () => database.prepare("update notice set sent_at = ? where key = ?"),
    dropNotice: () => database.prepare("delete from notice where key = ?"),
    openCircuits: () =>
      database.prepare<[], { service: string; since: string; reason: string; probe_at: string }>(
        "select service, since, reason, probe_at from service_left order by service",
      ),
    noteOpenCircuit: () =>
      database.prepare(
        `insert into service_left (service, since, reason, probe_at) values (?, ?, ?, ?)
       on conflict (service) do update set reason = excluded.reason, probe_at = excluded.probe_at`,
      ),
    closeCircuit: () => database.prepare("delete from service_left where service = ?"),
  });
}
