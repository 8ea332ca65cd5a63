import { expect } from "vitest";
import { callerOf } from "../../sandbox/caller.ts";
import type { World } from "../../support/cli.ts";
import { enterpriseOf } from "../../support/world/members.ts";

/** What M7 shows of each customer that has anything: `PRODUCT CHANNEL-ORDER-NUMBER`, sorted. */
export async function productsBy(w: World): Promise<Record<string, string[]>> {
  const { member } = callerOf(w.sandbox.url);
  const found: Record<string, string[]> = {};
  for (const { id } of w.rows<{ id: string }>("select customer_id as id from link where to_at is null order by 1")) {
    const list: string[] = [];
    for (const { assetId } of (await member("GET", `/enterprise/${enterpriseOf(w, id)}/asset/assetNums`)).data) {
      const { data } = await member("GET", `/enterprise/asset/${assetId}/merchandiseProducts`);
      for (const row of data.productInstanceList) list.push(`${row.crmProductId} ${row.channelOrderId}`);
    }
    if (list.length > 0) found[id] = list.sort();
  }
  return found;
}

/** The products of the first order at each customer that has any of them, whatever purchase brought them. */
export async function places(w: World): Promise<Record<string, string[]>> {
  const shown = Object.entries(await productsBy(w)).map(([customer, list]): [string, string[]] => [
    customer,
    list.map((text) => text.split(" ")[0] ?? "").filter((product) => product.endsWith("1")),
  ]);
  return Object.fromEntries(shown.filter(([, list]) => list.length > 0));
}

/** Runs until one has nothing to call and nothing is left open; answers the writing calls of each. */
export async function runsUntilQuiet(w: World, most = 8): Promise<Record<string, number>[]> {
  const calls: Record<string, number>[] = [];
  let last = "";
  while (calls.length < most) {
    const run = await w.does("run", "everything");
    calls.push(run.calls);
    last = `${run.exitCode} ${run.stdout}`;
    if (Object.keys(run.calls).length === 0 && run.exitCode === 0) return calls;
  }
  expect.fail(`no run was quiet: ${JSON.stringify(calls)}\n${last}`);
}
