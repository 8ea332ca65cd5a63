import type { PauseWord } from "../ledger/pause.ts";
import type { Application } from "./application.ts";

/** How often is looked whether calls go on, and how much longer than a call may take. Milliseconds. */
const lookEveryMs = 100;
const graceMs = 10_000;

/** Who decides it, and why. */
interface Whose {
  by: string;
  reason: string;
}

/** The word that counts now, and how many calls go on that had begun before it. */
export type PauseResult = PauseWord & { isNew: boolean; goingOn: number };

/**
 * Has nothing written to the services any more, in whatever process. Once this resolves no writing call starts. Calls
 * that had begun are waited for, as long as one may take.
 */
export async function pause(
  application: Pick<Application, "existingLedger" | "clock" | "config">,
  whose: Whose,
  signal: AbortSignal,
): Promise<PauseResult> {
  const ledger = await application.existingLedger();
  const word = await ledger.pause.begin(whose);
  const { orderService, memberCenter } = application.config;
  const { clock } = application;
  const until = clock.monotonic() + Math.max(orderService.callTimeoutMs, memberCenter.callTimeoutMs) + graceMs;
  while (ledger.pause.goingOn > 0 && clock.monotonic() < until && !signal.aborted)
    await clock.sleep(lookEveryMs, signal).catch(() => {});
  return { ...word, goingOn: ledger.pause.goingOn };
}
