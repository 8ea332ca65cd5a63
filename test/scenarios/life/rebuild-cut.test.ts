import { rmSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { outcome } from "../../support/world/members.ts";
import { amend, line, placedOrders, waitsFor } from "./placed-orders.ts";

/* oxlint-disable typescript/unbound-method -- a method of a prototype is replaced here on purpose */
/** From the first such statement on nothing is written any more, as where the process ends there. */
function cutAt(start: string): { mended: () => void; cut: () => boolean } {
  const { prepare } = Database.prototype;
  let cut = false;
  Database.prototype.prepare = function cutPrepare(this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    const text = sql.trimStart();
    if (!/^(?:insert|update|delete|commit)/iu.test(text)) return statement;
    const { run } = statement;
    statement.run = (...values: unknown[]) => {
      if (text.startsWith(start)) cut = true;
      if (cut) throw new Error("the process ended here");
      return Reflect.apply(run, statement, values) as Database.RunResult;
    };
    return statement;
  } as typeof prepare;
  const mended = (): void => void (Database.prototype.prepare = prepare);
  onTestFinished(mended);
  return { mended, cut: () => cut };
}

it.each(["insert into asset_number", "insert into placed_order", "insert into order_step", "insert into staff_link"])(
  "a rebuild that ended at %s and is made again brings all of it back",
  { tags: "long" },
  async (at) => {
    const w = await placedOrders();
    const has = async (...ids: string[]) => {
      amend(w, "1", { products: ids.map((id) => line(id, "A1")) });
      return outcome(await w.does("run", "everything"));
    };
    expect(await has("P1", "Q1", "R1")).toEqual([0, { E5: 1 }]);
    w.losesItsLedger();
    const { mended, cut } = cutAt(at);
    expect((await w.does("rebuild")).exitCode).not.toBe(0);
    expect(cut()).toBe(true);
    mended();
    expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
    expect(w.rows("select kind, origin from order_step")).toEqual(
      expect.arrayContaining([{ kind: "bought", origin: "rebuilt" }]),
    );
    expect(await has("P1", "Q1", "R1", "U1")).toEqual([0, { E5: 1 }]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
  },
);

it("a rebuild that ended before all customers were looked at lets nothing be placed that it might have found", async () => {
  const w = await placedOrders({ staff: [] });
  amend(w, "1", { customer: "C2" });
  w.losesItsLedger();
  const { mended, cut } = cutAt("insert into link");
  expect((await w.does("rebuild")).exitCode).not.toBe(0);
  expect(cut()).toBe(true);
  mended();
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
  expect(waitsFor(w, "1")).toBe("order.shown-elsewhere");
});

it.each([
  ["", false],
  [", also where the source of orders was down then", true],
])(
  "an order of a type that is never shown is not placed at a customer without an enterprise%s",
  { tags: "long" },
  async (_, isDown) => {
    const w = await placedOrders({ staff: [] });
    w.customers.push({ id: "C0" });
    amend(w, "1", { customer: "C0" });
    w.environment["CRM_SYNC__assumptions__visibleLicenseTypes"] = '["softkey"]';
    for (const operation of ["M6", "E8"] as const) w.sandbox.faults.add({ operation, fault: "oddData", value: [] });
    if (isDown) rmSync(w.path("data/orders.ndjson"));
    w.losesItsLedger();
    expect((await w.does("rebuild")).exitCode).toBe(isDown ? 7 : 3);
    w.write();
    for (const _run of [1, 2, 3]) {
      expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
      for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
        expect((await w.run("approve", id, "--reason", "looked at", "--by", "anna")).exitCode).toBe(0);
    }
    expect(waitsFor(w, "1")).toBe("order.not-observable");
  },
);
