import { fetch } from "undici";
import { expect, it } from "vitest";
import { openHolds, ran, runsOf } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { operator, servePages } from "../../support/served-pages.ts";
import { orderOf, placedOrders } from "../../support/world/placed-orders.ts";
import { removeFreely, runOf, undo } from "../../support/world/undone.ts";

/** An undo whose two operations the limit of the run holds. */
async function heldUndo(): Promise<{ w: World; run: string }> {
  const w = await placedOrders();
  removeFreely(w);
  w.orders.push(orderOf("3", "C1"), orderOf("4", "C2"));
  const { file } = await undo(w, await runOf(w));
  w.environment["CRM_SYNC__limits__removals__run__share"] = "0";
  w.environment["CRM_SYNC__limits__removals__run__floor"] = "1";
  expect(await w.does("apply", file)).toMatchObject({ exitCode: 4, calls: {} });
  expect(await openHolds(w)).toMatchObject([{ ofUndo: true }, { ofUndo: true }]);
  const [{ id }] = await runsOf(w);
  return { w, run: id };
}

it("approve --run does not say that the next run carries an undo out", async () => {
  const { w, run } = await heldUndo();
  const { stdout } = await w.run("approve", "--run", run, "--reason", "looked at", "--by", "anna");
  expect(stdout).toContain("2 operations of 2 customers");
  expect(await ran(w)).toMatchObject({ exitCode: 0, calls: {} });
  expect(stdout).not.toContain("the next run carries out exactly these");
});

it("the pages do not say that the next run carries out what was approved of an undo", async () => {
  const { w, run } = await heldUndo();
  const [hold] = await openHolds(w);
  const { url } = await servePages(w.place, operator);
  const post = async (path: string, from: string, decision: string): Promise<string> => {
    const page = await (await fetch(`${url}${from}`)).text();
    const shown = /name="shown" value="([0-9a-f]*)"/u.exec(page)?.[1] ?? "";
    const body = new URLSearchParams({ csrf: "token", reason: "looked at it", shown, decision });
    return await (await fetch(`${url}${path}`, { method: "POST", body, headers: { origin: url } })).text();
  };
  const one = await post(`/hold/${hold.id}`, `/hold/${hold.id}`, hold.first[0].operation);
  expect(/That one operation is approved. The next run carries it out/u.test(one)).toBe(false);
  const all = await post(`/plan/run/${run}`, "/plan", "approve");
  expect(/is approved. The next run carries out exactly that/u.test(all)).toBe(false);
  expect(/2 approved for the next run/u.test(all)).toBe(false);
});
