import { expect } from "vitest";
import type { Parsed, World } from "../cli.ts";
import { line } from "./placed-orders.ts";
import type { GivenOrder } from "./crm.ts";

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

/** The asset numbers of the last accepted call of a channel order number, an asset a list. */
export function numbersSent(w: World, channelOrderId: string): string[][] {
  const body: Parsed = JSON.parse(w.sandbox.batches(channelOrderId).at(-1)?.body ?? '{"orderList":[]}');
  return body.orderList.flatMap(({ assets }: Parsed) => assets.map(({ assetNos }: Parsed) => assetNos));
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
