import type { ExitCode } from "../base/errors.ts";
import { exitCodes } from "../base/errors.ts";
import type { StartHealth } from "../run/health.ts";
import type { Output } from "./output.ts";
import { reportFailure } from "./output.ts";
import type { Environment, GlobalOptions, Needs, Workplace } from "./workplace.ts";

/** What every command is given. */
export interface Invocation {
  options: GlobalOptions;
  environment: Environment;
  output: Output;
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  signal: AbortSignal;
  startHealth: StartHealth;
}

/** Opens the workplace, does the work and closes it; whatever goes wrong is printed and becomes the exit code. */
export async function withWorkplace(
  invocation: Pick<Invocation, "options" | "environment" | "output">,
  work: (workplace: Workplace) => Promise<ExitCode>,
  needs: Needs = { services: true },
): Promise<ExitCode> {
  let workplace: Workplace | undefined;
  try {
    const { Workplace } = await import("./workplace.ts");
    workplace = await Workplace.open(invocation.options, invocation.environment, invocation.output, needs);
    return await work(workplace);
  } catch (error) {
    return reportFailure(invocation.output, error, invocation.options.json);
  } finally {
    await workplace?.close();
  }
}

/**
 * Holds the run lock while `work` runs. Another run that is on ends this at once with exit code 75. `done` answers, under the lock, where another
 * program did the work in the meantime.
 */
export async function underRunLock<T>(
  workplace: Workplace,
  work: () => Promise<T>,
  done: () => Promise<T | undefined> = async () => undefined,
): Promise<T> {
  const ledger = await workplace.ledger();
  ledger.takeRunLock();
  try {
    const found = await done();
    if (found !== undefined) return found;
    // Under the lock: whoever stands back asks nobody which services these are.
    await workplace.requirePlatform();
    return await work();
  } finally {
    ledger.releaseRunLock();
  }
}

/** Opens the workplace for a command that asks the ledger only: no service is talked to. */
export async function withLedger(
  invocation: Invocation,
  work: (workplace: Workplace) => Promise<ExitCode>,
): Promise<ExitCode> {
  return await withWorkplace(invocation, work, { services: false });
}

/** The same for a command that only reads: it needs no secret, and no right to write. */
export async function withReader(
  invocation: Invocation,
  work: (workplace: Workplace) => Promise<ExitCode>,
): Promise<ExitCode> {
  return await withWorkplace(invocation, work, { services: false, secrets: false });
}

export const ok: ExitCode = exitCodes.ok;
