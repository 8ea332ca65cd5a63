import type { Seat } from "./crm-orders.ts";
import type { MadeCustomer } from "./customers.ts";
import type { Dice } from "./dice.ts";
import { makeProduct, pickTerm } from "./products.ts";
import type { MadeProduct } from "./products.ts";

/** An order as the portal exports it: one licence, with products, and perhaps one bundle, inside it. */
export interface PortalOrder {
  number: string;
  customer: string;
  /** ISO with the offset of the customer's own clock. */
  placedAt: string;
  total: { amount: string; currency: string };
  licence: {
    id: string;
    model: string;
    seats: number;
    attributes: { code: string; value: string }[];
    products: object[];
    bundle?: { id: string; number: string; name: string; term: string; products: object[] };
  };
}

const offsets = ["+01:00", "+03:00", "+07:00", "+09:00", "Z"] as const;

/** Makes the orders of the portal, one after the other. */
export function createPortalOrders(
  dice: Dice,
): (number: number, customer: MadeCustomer) => { order: PortalOrder; seats: Seat[] } {
  return (number, customer) => {
    let instances = 0;
    const nextId = (letter: string): string => `${letter}-${number}-${(instances += 1)}`;
    const start = Temporal.PlainDate.from("2026-02-06").add({ months: dice.below(9), days: dice.below(18) });
    const term = pickTerm(dice);
    const product = (nodes: number, webApp: boolean): MadeProduct =>
      makeProduct(dice, nextId("PP"), { start, term, nodes, webApp });
    const id = nextId("PL");
    const cloud = dice.chance(0.7);
    const seats = cloud ? 1 + dice.below(3) : 1;
    const products = Array.from({ length: 1 + dice.below(2) }, () => product(1, cloud && dice.chance(0.5)));
    const [first] = products;
    if (!cloud && first !== undefined) first.passwords = [`sample-${number}`];
    const bundled = dice.chance(0.3) ? [product(2, false), product(3, false)] : [];
    const cents = [...products, ...bundled].reduce((sum, one) => sum + one.cents, 0);
    return {
      order: {
        number: `PO-${number}`,
        customer: customer.id,
        placedAt:
          `${start.toString()}T${String(7 + dice.below(12)).padStart(2, "0")}` +
          `:${String(dice.below(60)).padStart(2, "0")}:00${dice.pick(offsets)}`,
        total: { amount: (cents / 100).toFixed(2), currency: "EUR" },
        licence: {
          id,
          model: cloud ? "cloud_account" : "softkey",
          seats,
          attributes: dice.chance(0.5) ? [{ code: "region", value: "WEB" }] : [],
          products: products.map(exported),
          ...(bundled.length === 0
            ? {}
            : {
                bundle: {
                  id: nextId("PB"),
                  number: "PK-200",
                  name: "Portal Bundle",
                  term: term.term,
                  products: bundled.map(exported),
                },
              }),
        },
      },
      seats: cloud
        ? Array.from({ length: seats }, (): Seat => ({ system: "portal", customer, claim: { instance: id } }))
        : [],
    };
  };
}

/** A product as the portal writes it: days as the first moment of them in UTC, passwords as a list of objects. */
function exported({ cents, from, to, trialUntil, passwords, features, ...product }: MadeProduct): object {
  return {
    ...product,
    price: (cents / 100).toFixed(2),
    ...(from === undefined ? {} : { from: `${from}T00:00:00Z` }),
    ...(to === undefined ? {} : { to: `${to}T00:00:00Z` }),
    ...(trialUntil === undefined ? {} : { trialUntil: `${trialUntil}T00:00:00Z` }),
    ...(passwords?.[0] === undefined ? {} : { lock: { password: passwords[0] } }),
    features,
  };
}
