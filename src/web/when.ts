import type { Dashboard } from "../operate/dashboard.ts";
import { toInstant } from "../base/clock.ts";

/** The zone in which times are shown, and the moment from which ages count. */
export function whenOf({ application, clock }: Pick<Dashboard, "application" | "clock">): {
  zone: string;
  now: string;
} {
  return { zone: application.config.zone, now: toInstant(clock.now()) };
}
