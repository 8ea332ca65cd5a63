import { toInstant } from "../base/clock.ts";
import { parsePeriod, periodLike } from "../report/statement/period.ts";
import type { Period } from "../report/statement/shape.ts";
import type { Application } from "./application.ts";

/**
 * A period as it is asked for, in the configured zone; it joins the closed one before it. Throws a usage Problem for
 * what is no period.
 */
export async function periodOf(
  application: Pick<Application, "inquiry"> & { config: Pick<Application["config"], "zone"> },
  label: string,
): Promise<Period> {
  const period = parsePeriod(label, application.config.zone);
  const inquiry = await application.inquiry();
  return await inquiry.joinedPeriod(period);
}

/** The months from the one in which the ledger began to this one, as a person writes them. */
export async function monthsKnown(application: Application): Promise<string> {
  const now = toInstant(application.clock.now());
  const began = await (await application.inquiry()).began();
  return [began ?? now, now].map((at) => periodLike("2026-10", at, application.config.zone)).join("..");
}
