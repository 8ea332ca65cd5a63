import { parsePeriod } from "../report/statement/period.ts";
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
