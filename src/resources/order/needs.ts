import { handedIn } from "../../engine/model/registry.ts";
import { formatKey } from "../../crm/keys.ts";
import { unitsNamed } from "./state/asset-numbers.ts";
import { lastsAnything } from "../../engine/plan/drift.ts";
import type { CustomerInput, LoadedCustomer, PlanOptions } from "../../engine/plan/input.ts";
import type { OrderStanding } from "./model.ts";
import { planOrders } from "./placing.ts";
import type { OrderStage } from "./placing.ts";
import { repairedNumbers } from "./drift.ts";
import { amendedNumbers } from "./there-already.ts";
import { prepare } from "../../engine/plan/input.ts";
import { Limits } from "./removal-sight.ts";
import { Sights } from "./removal-sights.ts";

/** What has to be read from the platform before a customer can be planned. Nothing, where nothing depends on it. */
export interface Needs {
  enterprises: boolean;
  /** M5 and M6, and M8 where they show something lent. */
  staff: boolean;
  /** M8 in any case: what the CRM wants lent is checked by it, and what is to go. */
  loans: boolean;
  /** Asset numbers that people hold or are given: where M6 leaves one out, E8 is read too. */
  seats: ReadonlySet<string>;
  /** (M6 ∪ E8) → M7 of an adopted enterprise, so that orders already there are not placed again. */
  orders: boolean;
}

/**
 * Decides what has to be read (E3; M5 and M6; the assets of an adopted enterprise). `thorough` reads staff even where
 * nothing changed, and so does what is to be taken away: `ends`.
 */
export function needsOf(input: LoadedCustomer, thorough: boolean, ends = false): Needs {
  const { link } = input.known;
  const reads = handedIn().resources.map((resource) => resource.reads?.(input));
  const staffMatters =
    input.staff.some((staff) => staff.pending && staff.state !== "quarantined") ||
    reads.some((one) => one?.people) ||
    ends ||
    (thorough && input.staff.length > 0);
  return {
    enterprises: link === undefined && input.known.unlinked === undefined && input.desiredCustomer?.state === "current",
    staff: link !== undefined && staffMatters,
    loans: link !== undefined && (ends || reads.some((one) => one?.loans)),
    seats: link !== undefined && staffMatters ? seatsOf(input) : new Set(),
    orders:
      link !== undefined &&
      link.origin !== "created" &&
      !link.examined &&
      input.orders.some((order) => order.pending && order.state === "current"),
  };
}

/** The numbers that matter to people: those held by our doing, those the CRM names, and those of what is ordered. */
function seatsOf({ staff, known }: LoadedCustomer): Set<string> {
  const seats = new Set(known.assignments.map((assignment) => assignment.assetNumber));
  const instances = new Set<string>();
  for (const { key, state, body } of staff) {
    if (state !== "current") continue;
    for (const claim of body.assets) {
      if ("assetNumber" in claim) seats.add(claim.assetNumber);
      else instances.add(formatKey({ namespace: key.namespace, id: claim.instanceId }));
    }
  }
  for (const item of known.numbers) {
    const isOrdered = known.placedOrders.has(formatKey({ namespace: item.namespace, id: item.orderId }));
    const isClaimed = unitsNamed(item).some(({ namespace, instanceId }) =>
      instances.has(formatKey({ namespace, id: instanceId })),
    );
    if (isOrdered && isClaimed) seats.add(item.number);
  }
  return seats;
}

/**
 * The asset numbers whose contents (M7) decide what is taken away of orders, and whether something more is bought under
 * them: all of them where the ledger does not know under which something stands. `ends`: something may be taken away.
 * Undefined where nothing depends on M7.
 */
export function contentsNeeded(
  input: LoadedCustomer,
  options: Pick<PlanOptions, "settings" | "policies" | "repairs">,
): { numbers: ReadonlySet<string> | "all"; ends: boolean } | undefined {
  if ((input.standings?.size ?? 0) === 0 && (input.away ?? []).length === 0) return undefined;
  const nothing = { enterprises: undefined, members: undefined, assets: undefined };
  const stage = planOrders(prepare({ ...input, observed: nothing }, options.settings), options);
  const parts = stage.endings.flatMap((ending) => ending.parts);
  const numbers = new Set(driftedOrders(input, options).flatMap(repairedNumbers));
  const ends = parts.length > 0 || numbers.size > 0;
  if (stage.readsAll) return { numbers: "all", ends };
  for (const number of amendedNumbers(stage, input)) numbers.add(number);
  if (!ends && numbers.size === 0) return undefined;
  for (const part of parts) {
    const needed = part.by === undefined ? [part.unit.number] : [part.unit.number, part.by.unit.number];
    for (const number of needed) {
      if (number === undefined) return { numbers: "all", ends };
      numbers.add(number);
    }
  }
  return { numbers, ends };
}

/** Orders of which something was read back otherwise than it was left. */
function driftedOrders(
  { drift, standings }: Pick<LoadedCustomer, "drift" | "standings">,
  { repairs }: Pick<PlanOptions, "repairs">,
): OrderStanding[] {
  if (!lastsAnything(drift, repairs)) return [];
  return [...(standings?.values() ?? [])].flatMap((standing) => ("lost" in standing ? [] : standing));
}

/** Orders that may need a repair; M6 and M7 decide that. */
export function ordersToRepair(...given: Parameters<typeof driftedOrders>): string[] {
  return driftedOrders(...given)
    .filter((standing) => repairedNumbers(standing).length > 0)
    .map(({ order }) => formatKey(order));
}

/** Orders of which something is planned that rests on M7: what ends, what is bought under a number, what is repaired. */
export function ordersByContents(
  { meant, endings }: Pick<OrderStage, "meant" | "endings">,
  input: Pick<LoadedCustomer, "drift" | "standings">,
  options: Pick<PlanOptions, "repairs">,
): Set<string> {
  const bought = meant.filter((one) => amendedNumbers({ meant: [one] }, input).length > 0);
  return new Set([
    ...bought.flatMap(({ records }) => records.map(formatKey)),
    ...endings.map(({ order }) => formatKey(order.order)),
    ...ordersToRepair(input, options),
  ]);
}

/** What M7 leaves out of an order that wants it gone. `form`: what the CRM says of the order, and since when. */
export interface AbsentOf {
  form: string;
  /** By `absentName`. */
  names: string[];
}

/** What is to go and M7 leaves out, by order; of an order that stands there with nothing, M7 shows all of it. */
export function absentProducts(
  input: CustomerInput,
  options: Pick<PlanOptions, "settings" | "policies">,
): Map<string, AbsentOf> {
  const prepared = prepare(input, options.settings);
  const forms = new Map(input.orders.map(({ key, since, state }) => [formatKey(key), `${state} ${since}`]));
  const absent = new Map<string, AbsentOf>();
  for (const ending of planOrders(prepared, options).endings) {
    const key = formatKey(ending.order.order);
    const sights = new Sights(prepared, ending, new Limits(options.settings));
    const names = ending.parts.flatMap((part) => sights.absent(part));
    const earlier = absent.get(key)?.names ?? [];
    absent.set(key, { form: forms.get(key) ?? "", names: [...earlier, ...names] });
  }
  return absent;
}
