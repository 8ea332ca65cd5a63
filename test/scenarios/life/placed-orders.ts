import { expect } from "vitest";
import type { World } from "../../support/cli.ts";

export * from "../../support/world/placed-orders.ts";

/** The id of the only open hold. */
export function openHold(w: World): string {
  const holds = w.rows<{ id: string }>("select id from hold where state = 'open'");
  expect(holds).toHaveLength(1);
  return holds[0]?.id ?? "";
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
