import { sql } from "kysely";
import type { RawBuilder } from "kysely";
import type { DateZones } from "../../crm/model.ts";
import { stored } from "../../ledger/database/stored.ts";
import type { DesiredOrder } from "../../engine/model/desired.ts";
import { periodDays } from "../../report/statement/period.ts";
import type { Period, PeriodBy } from "../../report/statement/shape.ts";

/** A form of an order with the zones of its local dates. */
export type DatedOrder = DesiredOrder & { zones: DateZones | undefined };

/** The zones of the local dates of a form, as they are kept. */
export function zonesIn(kept: string | null | undefined): DateZones | undefined {
  return kept === null || kept === undefined ? undefined : stored<DateZones>(kept);
}

/**
 * Whether an order belongs to a period: by `happened`, or by the date that its form `v` has of the CRM, where it has
 * one; a local date is where its day is.
 */
export function isWithin(period: Period, by: PeriodBy, happened: RawBuilder<unknown>): RawBuilder<unknown> {
  const { from, to } = period;
  if (by === "happened") return sql`(${happened} >= ${from} and ${happened} < ${to})`;
  const { first, after } = periodDays(period);
  const placedAt = sql`v.body ->> '$.placedAt'`;
  const zone = sql`v.date_zones ->> '$.placedAt'`;
  const day = sql`crm_sync_local_date(${placedAt}, ${zone})`;
  const at = sql`coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ${placedAt}), ${happened})`;
  return sql`iif(${zone} is null, ${at} >= ${from} and ${at} < ${to}, ${day} >= ${first} and ${day} < ${after})`;
}
