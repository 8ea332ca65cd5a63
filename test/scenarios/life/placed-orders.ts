import { expect } from "vitest";
import type { SandboxOptions } from "../../../src/sandbox/sandbox.ts";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import type { GivenOrder, GivenStaff, ProductRow } from "../../support/world/crm.ts";

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

/** What a policy is for this world. */
export function rule(w: World, name: string, word: string): void {
  w.environment[`CRM_SYNC__policies__${name.replace(".", "__")}`] = word;
}

/** The id of the only open hold. */
export function openHold(w: World): string {
  const holds = w.rows<{ id: string }>("select id from hold where state = 'open'");
  expect(holds).toHaveLength(1);
  return holds[0]?.id ?? "";
}

/** What stands on the platform. */
export function standing(w: World): Record<string, unknown> {
  const { products, assets, assignments } = w.sandbox.state();
  return { products, assets, assignments };
}

/** The asset number of an instance. */
export function numberOf(w: World, instance: string, unit = 0): string {
  const [row] = w.rows<{ number: string }>(
    "select wire_number as number from asset_number where instance_id = ? and unit = ? and ended_at is null",
    instance,
    unit,
  );
  return row?.number ?? "";
}

/** Why an order waits. */
export function waitsFor(w: World, order: string): string | null | undefined {
  const [row] = w.rows<{ code: string | null }>(
    "select deferred_code as code from record where stream = 'orders' and id = ?",
    order,
  );
  return row?.code;
}

/**
 * M7 of an asset, which was read back, leaves some products out, whatever is there, until the faults are taken away.
 */
export function hide(w: World, asset: string, ...products: string[]): void {
  const number = numberOf(w, asset);
  const rows = w.rows<{ subject: string; body: string }>(
    "select subject, body from observation where kind = 'product'",
  );
  const shown = rows.filter(
    ({ subject }) => subject.startsWith(`${number}/`) && !products.includes(subject.slice(number.length + 1)),
  );
  const value = shown.map(({ body }): unknown => JSON.parse(body));
  w.sandbox.faults.add({
    operation: "M7",
    about: assetIdOf(w, number),
    fault: "oddField",
    field: "productInstanceList",
    value,
  });
}

/** The id of an asset, as it was read back last. */
export function assetIdOf(w: World, number: string): string {
  const [row] = w.rows<{ id: string }>(
    "select body ->> 'assetId' as id from observation where kind = 'asset' and subject = ?",
    number,
  );
  return row?.id ?? "";
}
