import type { Clock } from "../base/clock.ts";
import { toInstant } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { ServiceName } from "../contract/operations.ts";
import type { BreakerState } from "../http/breaker.ts";
import type { Ledger } from "../ledger/ledger.ts";

/**
 * Keeps in the ledger which services a run leaves alone, so that another process can show it. Only the holder of the run lock does: what a short
 * command beside it meets says nothing about the run. A service that answers is looked up once in each run, since a run of another process may have
 * left it. That it could not be kept stops nothing; a ledger that is broken says so itself.
 */
export function keepServicesLeft(deps: {
  ledger: () => Ledger | undefined;
  clock: Clock;
  logger: Logger;
}): (service: ServiceName, state: BreakerState) => void {
  /** Services that this process has noted, whose notes may not be committed yet. */
  const noted = new Set<ServiceName>();
  /** In which run each service was found in use. */
  const inUse = new Map<ServiceName, number>();

  async function keep(ledger: Ledger, service: ServiceName, state: BreakerState): Promise<void> {
    if (state.state === "open") {
      noted.add(service);
      await ledger.leaveService(service, state.reason, toInstant(deps.clock.now() + state.probeInMs));
      return;
    }
    const left = noted.has(service) || (await ledger.servicesLeft()).some((item) => item.service === service);
    if (state.state !== "closed" || !left) return;
    noted.delete(service);
    await ledger.serviceAnswers(service);
  }

  return (service, state) => {
    const ledger = deps.ledger();
    const run = ledger?.runEpoch;
    if (ledger === undefined || run === undefined) return;
    if (state.state === "closed") {
      if (inUse.get(service) === run) return;
      inUse.set(service, run);
    } else {
      inUse.delete(service);
    }
    keep(ledger, service, state).catch((error: unknown) => {
      deps.logger.warn({ service, reason: messageOf(error) }, "the state of a service could not be kept");
    });
  };
}
