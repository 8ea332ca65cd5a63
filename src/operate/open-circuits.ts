import { toInstant, type Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { ServiceName } from "../contract/endpoints.ts";
import type { CircuitState } from "../http/circuit.ts";
import type { Ledger } from "../ledger/ledger.ts";

/**
 * For other processes. Only the holder of the run lock records: a short command shows nothing about the run. When a
 * service answers, its stored circuit is checked once per run, because another process may have opened it.
 */
export function keepOpenCircuits(deps: {
  ledger: () => Ledger | undefined;
  clock: Clock;
  logger: Logger;
}): (service: ServiceName, state: CircuitState) => void {
  const noted = new Set<ServiceName>();
  const closedIn = new Map<ServiceName, number>();

  async function keep(ledger: Ledger, service: ServiceName, state: CircuitState): Promise<void> {
    if (state.state === "open") {
      noted.add(service);
      await ledger.schedule.noteOpenCircuit(service, state.reason, toInstant(deps.clock.now() + state.probeInMs));
      return;
    }
    const open = noted.has(service) || (await ledger.schedule.openCircuits()).some((item) => item.service === service);
    if (state.state !== "closed" || !open) return;
    noted.delete(service);
    await ledger.schedule.closeCircuit(service);
  }

  return (service, state) => {
    const ledger = deps.ledger();
    const run = ledger?.runs.epoch;
    if (ledger === undefined || run === undefined) return;
    if (state.state === "closed") {
      if (closedIn.get(service) === run) return;
      closedIn.set(service, run);
    } else {
      closedIn.delete(service);
    }
    keep(ledger, service, state).catch((error: unknown) => {
      deps.logger.warn({ service, reason: messageOf(error) }, "the state of a circuit could not be kept");
    });
  };
}
