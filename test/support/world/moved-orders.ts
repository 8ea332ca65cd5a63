import { expect } from "vitest";
import { callerOf } from "../../sandbox/caller.ts";
import type { World } from "../cli.ts";

/** The enterprises of the customers that the CRM has, or may have had, as E3 shows them. */
async function enterprisesOf(w: World): Promise<[customer: string, enterprise: string][]> {
  const { order } = callerOf(w.sandbox.url);
  const ids = new Set([...w.customers.map(({ id }) => id), "C0", "C1", "C2", "C3"]);
  const found: [string, string][] = [];
  for (const id of [...ids].toSorted()) {
    const query = `channelCode=crm&channelCustomerId=${encodeURIComponent(id)}&defaultCustomer=Y`;
    const { data } = await order("GET", `/enterprise/user/query?${query}`);
    for (const { enterpriseGlobalId } of data ?? []) found.push([id, enterpriseGlobalId]);
  }
  return found;
}

/** What M7 shows of each customer that has anything: `PRODUCT CHANNEL-ORDER-NUMBER`, sorted. */
export async function productsBy(w: World): Promise<Record<string, string[]>> {
  const { member } = callerOf(w.sandbox.url);
  const found: Record<string, string[]> = {};
  for (const [id, enterprise] of await enterprisesOf(w)) {
    const list = found[id] ?? [];
    for (const { assetId } of (await member("GET", `/enterprise/${enterprise}/asset/assetNums`)).data) {
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

/** Who holds which asset number, as M6 shows it. */
export async function holdings(w: World): Promise<{ number: string; member: string }[]> {
  const { member } = callerOf(w.sandbox.url);
  const found: { number: string; member: string }[] = [];
  for (const [, enterprise] of await enterprisesOf(w))
    for (const { assetNum, cloudAccountGlobalId } of (await member("GET", `/enterprise/${enterprise}/asset/assetNums`))
      .data)
      if (cloudAccountGlobalId !== null) found.push({ number: assetNum, member: cloudAccountGlobalId });
  return found.toSorted((one, other) => one.number.localeCompare(other.number));
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
