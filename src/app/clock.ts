import { exitCodes, Problem } from "../base/errors.ts";
import type { Correction } from "../ledger/time/correct-stamps.ts";
import { TrustedClock } from "../engine/run/trusted-clock.ts";
import type { Application } from "./application.ts";
import { underRunLock } from "./run-lock.ts";
import type { LockPlace } from "./run-lock.ts";

/**
 * Corrects the stamps of a ledger that lie in the future, by a person's decision. No run is on meanwhile (exit code 75).
 * Throws a Problem where no service agrees with this computer's clock: then nobody knows what is in the future.
 */
export async function correctClock(
  application: LockPlace & Pick<Application, "requireLedger" | "runDependencies">,
  whose: { by: string; reason: string },
): Promise<Correction> {
  application.requireLedger();
  const dependencies = await application.runDependencies();
  return await underRunLock(application, async () => {
    const clock = new TrustedClock(dependencies);
    const time = await clock.agreed();
    if (time !== undefined) return await dependencies.ledger.time.correct(time, whose);
    const { message = "", cure = "" } = clock.doubt ?? {};
    throw new Problem({
      code: "clock.not-trusted",
      message: `nothing was corrected: ${message}`,
      cure,
      exitCode: exitCodes.recordsRejected,
    });
  });
}
