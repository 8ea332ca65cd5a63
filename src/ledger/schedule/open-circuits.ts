import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { OpenCircuitTable } from "./tables.ts";

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

/** Circuits that are open; a row goes when the service answers again. Writes run inside the writer's transaction. */
export class OpenCircuitTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
      all: () =>
        database.prepare<[], OpenCircuitTable>(
          "select service, since, reason, probe_at from open_circuit order by service",
        ),
      note: () =>
        database.prepare(
          `insert into open_circuit (service, since, reason, probe_at) values (?, ?, ?, ?)
         on conflict (service) do update set reason = excluded.reason, probe_at = excluded.probe_at`,
        ),
      close: () => database.prepare("delete from open_circuit where service = +?"),
    });
  }

  all(): OpenCircuit[] {
    return this.#statements.all
      .all()
      .map(({ service, since, reason, probe_at }) => ({ service, since, reason, probeAt: probe_at }));
  }

  /** A circuit that was open already keeps the time since when. */
  note(circuit: OpenCircuit): void {
    this.#statements.note.run(circuit.service, circuit.since, circuit.reason, circuit.probeAt);
  }

  close(service: string): void {
    this.#statements.close.run(service);
  }
}
