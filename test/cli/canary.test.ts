import { describe, expect, it } from "vitest";
import { document, until, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";
import { placeOf } from "../../src/run/canary.ts";

const customers = 12;

/** Customers with nothing on the platform yet, in the order in which shares take them. */
async function newCompany(): Promise<{ w: World; shares: string; first: number; third: number }> {
  const w = await world({ records: company(customers, 1) });
  const order = w.customers
    .map(({ id }) => ({ id, place: placeOf({ namespace: "crm", id }) }))
    .toSorted((one, other) => one.place - other.place);
  const first = Math.ceil(order[1]?.place ?? 0) + 1;
  const share = order.filter(({ place }) => place < first).length;
  const third = Math.ceil(order[2]?.place ?? 0) + 1;
  return { w, shares: `${first},${Math.min(99, first + 40)}`, first: share, third };
}

/** The ids of the first two customers that shares take. */
function inOrder(w: World): [one: string, two: string] {
  const [one = "", two = ""] = w.customers
    .map(({ id }) => ({ id, place: placeOf({ namespace: "crm", id }) }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ id }) => id);
  return [one, two];
}

/** M5 of a customer is refused from now on. */
function cannotBeRead(w: World, customer: string): void {
  const [link] = w.rows<{ id: string }>("select enterprise_global_id as id from link where customer_id = ?", customer);
  w.sandbox.faults.add({ operation: "M5", fault: "status299", code: "60017", about: link?.id ?? "" });
}

/** A run by shares that goes on, from when the first share is being bought: its call takes a second. */
async function buying(w: World, shares: string): Promise<{ ended: ReturnType<World["does"]> }> {
  w.sandbox.faults.add({ operation: "E5", fault: "slow", delayMs: 1000, nth: 1 });
  const had = w.sandbox.counts().calls["E5"] ?? 0;
  const ended = w.does("run", "everything", "--canary", shares);
  await until("something is bought", () => (w.sandbox.counts().calls["E5"] ?? 0) > had);
  return { ended };
}

describe("run --canary", () => {
  it(
    "applies to the shares one after the other, reads back, and goes on where all of it is as it was meant",
    { tags: "long" },
    async () => {
      const { w, shares } = await newCompany();
      const run = await w.does("run", "everything", "--canary", shares);
      expect([run.exitCode, run.calls["E2"]], run.stdout).toEqual([0, customers]);
      expect(run.stdout).toMatch(/canary \d+ %: \d+ customer\(s\), read back as meant\n/u);
      expect(w.rows("select 1 from observation_read where complete = 1").length).toBeGreaterThan(1);
      const again = await w.does("run", "everything", "--canary", shares);
      expect([again.exitCode, again.calls]).toEqual([0, {}]);
    },
  );

  it(
    "stops where one customer of the first share is read back otherwise; the rest waits, is told of, and goes next",
    { tags: "long" },
    async () => {
      const { w, shares, first } = await newCompany();
      w.extra = 'notify: { kind: "log" }\n';
      w.write();
      // Only reading back asks M7 of an enterprise that was made just now.
      w.sandbox.faults.add({ operation: "M7", fault: "oddField", field: "crmProductId", value: "ELSE", times: 1 });
      const run = await w.does("run", "everything", "--canary", shares);
      w.sandbox.faults.clear();
      expect(run.exitCode, run.stdout).toBe(3);
      expect(run.calls["E2"]).toBe(first);
      expect(run.stdout).toMatch(
        /canary \d+ %: \d+ of \d+ customer\(s\) not as meant: crm\/C\d+: .*; the rest waits\n/u,
      );
      expect(run.stdout).toContain("run.canary");
      const status = document(await w.run("--json", "status"));
      expect(JSON.stringify(status)).toContain("run.canary");
      expect(w.rows<{ key: string }>("select key from alert where key like 'canary:%'").length).toBeGreaterThan(0);
      const next = await w.does("run", "everything");
      expect([next.exitCode, next.calls["E2"]], next.stdout).toEqual([0, customers - first]);
      expect((await w.does("run", "everything")).calls).toEqual({});
    },
  );

  it(
    "reads back whose amendment was bought while the old form is held, and stops where something else of it is gone",
    { tags: "long" },
    async () => {
      const { w, shares, first } = await newCompany();
      const lines = (nodes: number) =>
        w.orders.map(({ id, ...order }) => ({
          ...order,
          id,
          products: ["P", "Q"].map((name) => ({ id: `${id}-${name}`, parent: `${id}-A1`, pid: `PID-${name}`, nodes })),
        }));
      w.orders = lines(3);
      w.write();
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      w.orders = lines(9).map((order, at) => ({
        ...order,
        products: order.products.slice(0, 1).concat(lines(3)[at]?.products.slice(1) ?? []),
      }));
      w.write();
      const [customer] = w.customers
        .map(({ id }) => ({ id, place: placeOf({ namespace: "crm", id }) }))
        .toSorted((one, other) => one.place - other.place);
      const order = `O${customer?.id.slice(1) ?? ""}`;
      const [number] = w.rows<{ number: string }>(
        "select wire_number as number from asset_number where order_id = ?",
        order,
      );
      // While the share is applied, and after it was read before that.
      const running = await buying(w, shares);
      w.sandbox.hand({ action: "drop-product", assetNum: number?.number ?? "", crmProductId: `${order}-Q` });
      const run = await running.ended;
      w.sandbox.faults.clear();
      expect(run.calls, run.stdout).toEqual({ E5: first });
      expect(run.stdout).toMatch(new RegExp(`canary \\d+ %: 1 of ${first} customer\\(s\\) not as meant`, "u"));
    },
  );

  it(
    "reads back what an earlier run by shares left unread, however many runs of other jobs were made since",
    { tags: "long" },
    async () => {
      const { w, shares, first } = await newCompany();
      w.sandbox.faults.add({ operation: "M7", fault: "oddField", field: "crmProductId", value: "ELSE", times: 1 });
      const stopped = await w.does("run", "everything", "--canary", shares);
      w.sandbox.faults.clear();
      expect([stopped.exitCode, stopped.calls["E2"]], stopped.stdout).toEqual([3, first]);
      const [number] = w.rows<{ number: string; id: string }>(
        "select wire_number as number, instance_id as id from asset_number where fixed_at is not null order by 1",
      );
      w.sandbox.hand({ action: "drop-product", assetNum: number?.number ?? "", crmProductId: `${number?.id}-P` });
      w.tamper(`insert into run (id, job, kind, trigger, started_at, finished_at, state, exit_code, header)
      with recursive n(i) as (select 1000 union all select i + 1 from n where i < 1120)
      select 'run_0' || i, 'another', 'sync', 'hand', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 'done', 0, '{}' from n`);
      const next = await w.does("run", "everything", "--canary", shares);
      expect([next.exitCode, next.calls["E2"]], next.stdout).toEqual([3, undefined]);
      expect(next.stdout).toMatch(/1 of \d+ customer\(s\) not as meant/u);
    },
  );

  it("goes on beside what others made there", { tags: "long" }, async () => {
    const { w, shares } = await newCompany();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const bought = w.rows<{ number: string; id: string }>(
      "select wire_number as number, instance_id as id from asset_number where fixed_at is not null",
    );
    for (const { id } of w.customers) w.orders.push({ id: `N${id}`, customer: id, assets: [`N${id}-A1`] });
    w.write();
    const running = await buying(w, shares);
    for (const { number, id } of bought)
      w.sandbox.hand({ action: "add-product", assetNum: number, like: `${id}-P`, fields: { crmProductId: `X${id}` } });
    const run = await running.ended;
    expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([0, customers]);
  });

  it(
    "goes on beside what stood otherwise before it began, tells of it, and stops at what comes on top",
    { tags: "long" },
    async () => {
      const { w, shares, first } = await newCompany();
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const [one] = w.customers
        .map(({ id }) => ({ id, place: placeOf({ namespace: "crm", id }) }))
        .toSorted((left, right) => left.place - right.place);
      const order = `O${one?.id.slice(1) ?? ""}`;
      const instance = `${order}-A1`;
      const [number] = w.rows<{ number: string }>(
        "select wire_number as number from asset_number where instance_id = ?",
        instance,
      );
      w.sandbox.hand({ action: "drop-product", assetNum: number?.number ?? "", crmProductId: `${instance}-P` });
      for (const { id } of w.customers) w.orders.push({ id: `N${id}`, customer: id, assets: [`N${id}-A1`] });
      w.write();
      const run = await w.does("run", "everything", "--canary", shares);
      expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([0, customers]);
      expect(run.stdout).toMatch(
        /canary \d+ %: \d+ customer\(s\), read back as meant; 1 thing\(s\) stood otherwise before/u,
      );
      expect((await w.run("status")).stdout).toContain("missing");

      for (const { id } of w.customers) w.orders.push({ id: `M${id}`, customer: id, assets: [`M${id}-A1`] });
      w.write();
      const running = await buying(w, shares);
      const added = w.rows<{ number: string }>(
        "select wire_number as number from asset_number where instance_id = ?",
        `N${one?.id ?? ""}-A1`,
      );
      w.sandbox.hand({
        action: "drop-product",
        assetNum: added[0]?.number ?? "",
        crmProductId: `N${one?.id ?? ""}-A1-P`,
      });
      const stopped = await running.ended;
      w.sandbox.faults.clear();
      expect([stopped.exitCode, stopped.calls["E5"]], stopped.stdout).toEqual([3, first]);
      expect(stopped.stdout).toContain(`crm/${one?.id ?? ""}: 1 not as meant`);

      // What that run did is no earlier thing for the next one, although it is read before its share now.
      for (const { id } of w.customers) w.orders.push({ id: `K${id}`, customer: id, assets: [`K${id}-A1`] });
      w.write();
      const next = await w.does("run", "everything", "--canary", shares);
      expect([next.exitCode, next.calls["E5"]], next.stdout).toEqual([3, first]);
    },
  );

  it(
    "goes on beside a customer that waits for a person since before, and one that cannot be read",
    { tags: "long" },
    async () => {
      const { w, shares, third } = await newCompany();
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const [one, two] = inOrder(w);
      w.extra = "orders: { unseen: ask }\n";
      w.orders.push({ id: "D1", customer: one, assets: ["D1-A1"] });
      w.write();
      w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
      expect((await w.run("run", "everything")).exitCode).toBe(5);
      w.sandbox.faults.clear();
      for (const { id } of w.customers) w.orders.push({ id: `N${id}`, customer: id, assets: [`N${id}-A1`] });
      w.staff = w.staff.map((item) => (item.customer === two ? { ...item, holds: [] } : item));
      w.write();
      cannotBeRead(w, two);
      // Somebody of the first share is read back.
      const run = await w.does("run", "everything", "--canary", `${third},${shares.split(",")[1] ?? ""}`);
      w.sandbox.faults.clear();
      expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([5, customers - 2]);
      expect(run.stdout).not.toContain("not as meant");
    },
  );

  it(
    "stops where nobody of the first share can be read, tells of it, and goes on once somebody can",
    { tags: "long" },
    async () => {
      const { w, shares, first } = await newCompany();
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const [one, two] = inOrder(w);
      w.staff = w.staff.map((item) => (item.customer === one || item.customer === two ? { ...item, holds: [] } : item));
      for (const { id } of w.customers) w.orders.push({ id: `N${id}`, customer: id, assets: [`N${id}-A1`] });
      w.write();
      for (const id of [one, two]) cannotBeRead(w, id);
      const run = await w.does("run", "everything", "--canary", shares);
      expect([first, run.exitCode, run.calls], run.stdout).toEqual([2, 7, {}]);
      expect(run.stdout).toMatch(
        /canary \d+ %: 2 customer\(s\) not as meant: crm\/C\d+: .*nobody of this share was read back; the rest waits\n/u,
      );
      expect(JSON.stringify(document(await w.run("--json", "status")))).toContain("run.canary");
      w.sandbox.faults.clear();
      cannotBeRead(w, one);
      const next = await w.does("run", "everything", "--canary", shares);
      w.sandbox.faults.clear();
      expect([next.exitCode, next.calls["E5"]], next.stdout).toEqual([7, customers - 1]);
    },
  );

  it("stops where a first share got no asset numbers, so that nothing of it was bought", { tags: "long" }, async () => {
    const { w, shares } = await newCompany();
    w.environment["CRM_SYNC__assumptions__poolBatch"] = "1";
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const { id } of w.customers) w.orders.push({ id: `N${id}`, customer: id, assets: [`N${id}-A1`] });
    w.write();
    w.sandbox.faults.add({ operation: "E9", fault: "status299", code: "500" });
    const run = await w.does("run", "everything", "--canary", shares);
    w.sandbox.faults.clear();
    expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([7, undefined]);
    expect(run.stdout).toContain("not as meant");
  });

  it("stops where something of the first share was refused", async () => {
    const { w, shares, first } = await newCompany();
    w.sandbox.faults.add({ operation: "M1", fault: "status299", code: "30002", times: 1 });
    const run = await w.does("run", "everything", "--canary", shares);
    w.sandbox.faults.clear();
    expect(run.exitCode, run.stdout).toBe(3);
    expect(run.calls["E2"]).toBe(first);
  });

  it("goes on where a policy holds something of a share", { tags: "long" }, async () => {
    const { w, shares } = await newCompany();
    w.extra = "policies: { orders: { added: hold } }\n";
    w.write();
    const run = await w.does("run", "everything", "--canary", shares);
    expect([run.exitCode, run.calls["E2"], run.calls["E5"]], run.stdout).toEqual([4, customers, undefined]);
  });

  it(
    "takes shares that rise, of a job that synchronises, by hand or by the configuration",
    { tags: "long" },
    async () => {
      const { w, shares, first } = await newCompany();
      for (const words of ["5,1", "0", "a", "101"])
        expect((await w.does("run", "everything", "--canary", words)).exitCode, words).toBe(64);
      expect((await w.run("run", "verify", "--canary", "5")).exitCode).toBe(64);
      w.extra = `jobs: { everything: { kind: sync, streams: [customers, orders, staff], canary: [${shares}] } }\n`;
      w.write();
      w.sandbox.faults.add({ operation: "M1", fault: "status299", code: "30002", times: 1 });
      const run = await w.does("run", "everything");
      w.sandbox.faults.clear();
      expect([run.exitCode, run.calls["E2"]], run.stdout).toEqual([3, first]);
      w.extra = "jobs: { everything: { kind: sync, streams: [customers], canary: [5, 1] } }\n";
      w.write();
      expect((await w.run("run", "everything")).exitCode).toBe(78);
    },
  );
});
