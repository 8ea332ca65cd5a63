import { expect } from "vitest";
import type { World } from "../../support/cli.ts";
import type { GivenOrder } from "../../support/world/crm.ts";
import { line } from "./placed-orders.ts";

export const earlier = { order: "1", instance: "A1" };

/** An order of C1 whose asset `B…` renews `A1` of order `1`. */
export function renewal(id: string, more: Partial<GivenOrder> = {}): GivenOrder {
  const asset = `B${id}`;
  return {
    id,
    customer: "C1",
    assets: [{ id: asset, continues: earlier }],
    products: [line(`R${id}`, asset)],
    ...more,
  };
}

export function adds(w: World, ...orders: GivenOrder[]): void {
  w.orders = [...w.orders, ...orders];
  w.write();
}

/** Who holds which number by the ledger. */
export function holders(w: World): unknown[] {
  return w.rows("select asset_number as number, staff_id as staff from assignment where to_at is null order by 1");
}

/** The asset numbers of the last accepted call of a channel order number. */
export function numbersSent(w: World, channelOrderId: string): unknown {
  const body = w.sandbox.batches(channelOrderId).at(-1)?.body ?? "{}";
  return JSON.parse(body).orderList?.map((record: { assets: { assetNos: string[] }[] }) =>
    record.assets.map(({ assetNos }) => assetNos),
  );
}

/** Runs that find nothing to do. */
export async function rests(w: World, times = 2): Promise<void> {
  for (let run = 0; run < times; run += 1) {
    const { exitCode, calls, stdout } = await w.does("run", "everything");
    expect([exitCode, calls], stdout).toEqual([0, {}]);
  }
}

/** Runs once: with which exit code, which calls, and why orders wait. */
export async function runs(w: World, exitCode: number, calls: Record<string, number>): Promise<string> {
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout + run.stderr).toEqual([exitCode, calls]);
  return run.stdout;
}
