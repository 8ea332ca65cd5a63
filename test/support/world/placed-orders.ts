import { expect } from "vitest";
import type { SandboxOptions } from "../../../src/sandbox/sandbox.ts";
import { world, type World } from "../cli.ts";
import type { GivenOrder, GivenStaff, ProductRow } from "./crm.ts";

/** A product with a number of its own, so that nothing confuses it with another. */
export function line(id: string, parent: string, more: Partial<ProductRow> = {}): ProductRow {
  return { id, parent, pid: `PID-${id}`, ...more };
}

/** An order of one asset `A…` with the products `P…` and `Q…`. */
export function orderOf(id: string, customer: string, more: Partial<GivenOrder> = {}): GivenOrder {
  return { id, customer, assets: [`A${id}`], products: [line(`P${id}`, `A${id}`), line(`Q${id}`, `A${id}`)], ...more };
}

/** Two customers with a placed order each, and people who hold what is in it. */
export async function placedOrders(
  given: { first?: Partial<GivenOrder>; staff?: GivenStaff[]; sandbox?: Partial<SandboxOptions> } = {},
): Promise<World> {
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders: [orderOf("1", "C1", given.first), orderOf("2", "C2")],
      staff: given.staff ?? [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C2", holds: ["A2"] },
      ],
    },
    ...(given.sandbox === undefined ? {} : { sandbox: given.sandbox }),
  });
  const first = await w.does("run", "everything");
  expect(first.exitCode, first.stdout).toBe(0);
  return w;
}

/** Changes an order in the CRM. */
export function amend(w: World, id: string, more: Partial<GivenOrder>): void {
  w.orders = w.orders.map((item) => (item.id === id ? { ...item, ...more } : item));
  w.write();
}

/** Sets a policy of this world. */
export function rule(w: World, name: string, word: string): void {
  w.environment[`CRM_SYNC__policies__${name.replace(".", "__")}`] = word;
}

/** Lets a run remove everything of all enterprises together. */
export function removesAll(w: World): void {
  for (const span of ["run", "day", "week"]) w.environment[`CRM_SYNC__limits__removals__${span}__share`] = "1";
}

/** What the platform holds. */
export function standing(w: World): Record<string, unknown> {
  const { products, assets, assignments } = w.sandbox.state();
  return { products, assets, assignments };
}
