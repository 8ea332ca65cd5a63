import type { Draws } from "../simulation/timeline.ts";
import type { CrmNow, Line, OrderNow } from "./model.ts";
import { nameByStanding } from "./seats.ts";

/**
 * Cancels an order or takes that back: what comes back is to be bought anew, and continues nothing any more where its
 * assets or those that it continued went on elsewhere meanwhile.
 */
export function setCancelled(crm: CrmNow, order: OrderNow, cancelled: boolean): void {
  order.cancelled = cancelled;
  if (cancelled) return;
  buyAnew(crm, order);
  for (const line of order.lines)
    if (goesOn(crm, line) || renewers(crm, line.continues?.line).length > 1) {
      line.continues = undefined;
      // The CRM says no more that it renews something, and it never stood: no claim of an earlier line means it.
      if (!crm.lineage.everStood(line.id)) crm.lineage.isNew(line.id);
    }
}

/** Nothing of an order stands where it is to stand now: it came back, or belongs to another customer. */
export function buyAnew(crm: CrmNow, order: OrderNow): void {
  for (const { id, continues } of order.lines)
    crm.lineage.anew([id, ...(continues?.order === order.id ? [continues.line] : [])]);
}

/** The wanted lines that continue a line. */
function renewers(crm: CrmNow, earlier: string | undefined): Line[] {
  if (earlier === undefined) return [];
  return crm.lines().flatMap(({ line }) => (line.continues?.line === earlier ? [line] : []));
}

/**
 * No CRM renews what never was there: a line that was not bought yet is new where what it was to renew ended before
 * that could be bought, or is another customer's now.
 */
export function dropVain(crm: CrmNow): void {
  const { lineage } = crm;
  // What ended and nobody renews may be gone by any time from now on.
  for (const { cancelled, lines } of crm.orders)
    for (const { id } of lines) if (cancelled && renewers(crm, id).length === 0) lineage.anew([id]);
  for (const order of crm.orders)
    for (const line of order.lines) {
      if (line.continues === undefined || lineage.everStood(line.id)) continue;
      const { order: from, line: earlier } = line.continues;
      const other = crm.orders.find(({ id }) => id === from);
      const isWanted = crm.lines().some((one) => one.line.id === earlier);
      if (other?.customer === order.customer && (isWanted || lineage.stands(earlier))) continue;
      line.continues = undefined;
      lineage.isNew(line.id);
    }
}

/** A line that takes over the assets of another one, perhaps one more than that has, perhaps fewer. */
function successor(crm: CrmNow, draws: Draws, from: { order: OrderNow; line: Line }): Line {
  const { order, line: earlier } = from;
  const id = `L${crm.next()}`;
  const quantity = draws.whole(draws.chance(0.2) ? 1 : earlier.quantity, earlier.quantity + 1);
  const isSame = draws.chance(0.3);
  const products = earlier.products.map((product) => (isSame ? { ...product } : { ...product, id: `P${crm.next()}` }));
  crm.lineage.renews(id, earlier.id);
  return { id, quantity, products, continues: { order: order.id, line: earlier.id } };
}

/** A line that nobody renews yet, nor what renewed it. */
function renewable(crm: CrmNow, draws: Draws): { order: OrderNow; line: Line } | undefined {
  return draws.pick(crm.lines().filter(({ line }) => !goesOn(crm, line)));
}

/** Whether a line that is wanted goes on from this one, however many lie between. */
function goesOn(crm: CrmNow, { id }: Line): boolean {
  return crm.lines().some(({ line }) => line.id !== id && crm.lineage.isOrFollows(line.id, id));
}

/** An order of which each line is renewed by a line that is wanted, of another order. */
function renewedWhole(crm: CrmNow, draws: Draws): OrderNow | undefined {
  return draws.pick(
    crm.orders.filter(
      (order) =>
        !order.cancelled &&
        order.lines.every(({ id }) => renewers(crm, id).some((line) => !order.lines.includes(line))),
    ),
  );
}

function renewing(crm: CrmNow, draws: Draws, cancelled: boolean): OrderNow | undefined {
  return draws.pick(
    crm.orders.filter(
      (order) => order.cancelled === cancelled && order.lines.some(({ continues }) => continues !== undefined),
    ),
  );
}

export const renewalEdits = {
  "an order renewed": {
    make: (crm: CrmNow, draws: Draws): string | undefined => {
      const from = renewable(crm, draws);
      if (from === undefined) return undefined;
      const line = successor(crm, draws, from);
      const order: OrderNow = {
        id: `O${crm.next()}`,
        customer: from.order.customer,
        cancelled: false,
        lines: [line],
      };
      crm.orders.push(order);
      const ends = draws.chance(0.3) && from.order.lines.length === 1;
      if (ends) setCancelled(crm, from.order, true);
      return `${order.id} ${line.id} renews ${from.line.id} of ${from.order.id}${ends ? ", which ends" : ""}`;
    },
  },
  "a line renewed in its order": {
    make: (crm: CrmNow, draws: Draws): string | undefined => {
      const from = renewable(crm, draws);
      if (from === undefined || !crm.lineage.stands(from.line.id)) return undefined;
      const line = successor(crm, draws, from);
      from.order.lines = from.order.lines.map((one) => (one === from.line ? line : one));
      return `${line.id} takes the place of ${from.line.id} in ${from.order.id}`;
    },
  },
  "a renewed order ends": {
    make: (crm: CrmNow, draws: Draws): string | undefined => {
      const order = renewedWhole(crm, draws);
      if (order !== undefined) setCancelled(crm, order, true);
      return order?.id;
    },
  },
  "a renewal cancelled": {
    make: (crm: CrmNow, draws: Draws): string | undefined => {
      const order = renewing(crm, draws, false);
      if (order !== undefined) setCancelled(crm, order, true);
      return order?.id;
    },
  },
  "a renewal comes back": {
    make: (crm: CrmNow, draws: Draws): string | undefined => {
      const order = renewing(crm, draws, true);
      if (order !== undefined) setCancelled(crm, order, false);
      return order?.id;
    },
  },
  "a seat named by what renewed it": {
    make: (crm: CrmNow, draws: Draws): string | undefined => {
      const person = draws.pick(
        crm.people.filter(({ holds }) => holds.some((claim) => !crm.lines().some(({ line }) => line.id === claim))),
      );
      if (person !== undefined) nameByStanding(crm, person);
      return person?.id;
    },
  },
};
