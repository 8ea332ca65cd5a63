import type { EndpointId } from "../endpoints.ts";
import { assets, locks } from "./assets.ts";
import { calls } from "./calls.ts";
import { enterprises } from "./enterprises.ts";
import { orderFields, orders } from "./orders.ts";
import type { AnyRow } from "./row.ts";
import { assignments, staff } from "./staff.ts";

/** Every row, by area; the settings stand in this order in the configuration's schema and documentation. */
export const rows = calls
  .and(enterprises)
  .and(orders)
  .and(orderFields)
  .and(assets)
  .and(staff)
  .and(assignments)
  .and(locks);

/** What the contracts leave open, for people. */
export interface Assumption extends Pick<AnyRow<string>, "id" | "kind" | "question" | "default"> {
  /** Where it is decided: keys of the configuration, or `fixed` in the program. */
  decidedBy: { setting: string } | "fixed";
  /** Endpoints that are blocked while a setting of this row has no value. */
  requiredBefore: EndpointId[];
}

/** A1–A43, in this order. */
export const assumptions: readonly Assumption[] = rows.list
  .toSorted((left, right) => Number(left.id.slice(1)) - Number(right.id.slice(1)))
  .map(({ id, kind, question, default: standard, decidedBy, needs = [] }) => ({
    id,
    kind,
    question,
    default: standard,
    decidedBy:
      typeof decidedBy === "object" && "length" in decidedBy
        ? { setting: decidedBy.map((key) => `assumptions.${key}`).join(", ") }
        : decidedBy,
    requiredBefore: [...new Set(needs.flatMap(({ endpoints }) => endpoints))],
  }));
