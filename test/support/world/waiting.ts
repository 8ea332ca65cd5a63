import { expect } from "vitest";
import { world, type World } from "../cli.ts";
import type { Crm, GivenCustomer } from "./crm.ts";

/** What the customers of a world in which something of everything waits are called, and what their ids end in. */
export interface Naming {
  /** The customer with this number, from 0; private. */
  customer: (index: number) => string;
  /** A person of them; private. */
  person: (index: number) => string;
  /** Stands behind the number in each id of a record. */
  suffix: string;
  product: (index: number) => string;
  branch: (index: number) => string;
  /** What else stands in a record of a customer. */
  more?: Partial<GivenCustomer>;
  login: (index: number) => string;
}

/** Which customer is in what state, by their places among the records. */
export const places = { held: 1, parked: 2, quarantined: 3, deferred: 4 } as const;
const customersAtFirst = 6;
const peopleOf = (index: number): number => (index === places.held ? 8 : 2);

/** The records as the CRM has them at first. */
function recordsBy(naming: Naming, count: number): Crm {
  const { suffix } = naming;
  const crm: Crm = { customers: [], orders: [], staff: [] };
  for (let index = 0; index < count; index += 1) {
    const [id, order] = [`C-${1001 + index}${suffix}`, `SO-${50_001 + index}${suffix}`];
    crm.customers.push({ id, name: naming.customer(index), branch: naming.branch(index), ...naming.more });
    const assets = Array.from({ length: peopleOf(index) }, (_, at) => `${order}-A${at + 1}`);
    const products = assets.map((asset, at) => ({ id: `${asset}-P`, parent: asset, name: naming.product(index + at) }));
    crm.orders.push({ id: order, customer: id, assets, products });
    for (const [at, asset] of assets.entries()) {
      const number = index * 10 + at;
      const person = `E-${70_001 + number}`;
      crm.staff.push({
        id: person,
        customer: id,
        login: naming.login(number),
        name: naming.person(number),
        holds: [asset],
      });
    }
  }
  return crm;
}

/**
 * A world in which something of everything waits for a person: an order whose outcome nobody knows, seats that a limit
 * holds back, a record in quarantine, and one that waits for another.
 */
export async function everythingWaits(naming: Naming): Promise<World> {
  const w = await world({ records: recordsBy(naming, customersAtFirst) });
  w.extra = "orders: { unseen: ask }\n";
  w.write();
  const first = await w.run("run", "everything");
  expect(first.exitCode, first.stdout + first.stderr).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  await somethingGoesWrong(w, naming);
  return w;
}

async function somethingGoesWrong(w: World, naming: Naming): Promise<void> {
  const customer = (place: number): string => w.customers[place]?.id ?? "";
  const of = (place: number) => w.staff.filter((person) => person.customer === customer(place));
  for (const person of of(places.held).slice(0, 6)) person.holds = [];
  const order = (number: number, place: number, nodes = 5) => {
    const id = `SO-${number}${naming.suffix}`;
    const products = [{ id: `${id}-A1-P`, parent: `${id}-A1`, name: naming.product(number), nodes }];
    w.orders.push({ id, customer: customer(place), assets: [`${id}-A1`], products });
  };
  order(50_101, places.parked);
  order(50_102, places.quarantined, -3);
  const [waiting] = of(places.deferred);
  waiting?.holds?.push(`SO-59999${naming.suffix}-A1`);
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  const run = await w.run("run", "everything");
  expect(run.exitCode, run.stdout + run.stderr).toBe(5);
  w.sandbox.faults.clear();
  const states = w.rows<{ state: string }>("select distinct state from operation").map(({ state }) => state);
  expect(states).toEqual(expect.arrayContaining(["done", "held", "parked"]));
  expect(w.rows("select 1 from quarantine")).not.toEqual([]);
  expect(w.rows("select 1 from record where deferred_code is not null")).not.toEqual([]);
}
