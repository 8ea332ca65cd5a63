import { mkdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { fileSource, lines } from "../../support/world/crm-files.ts";
import { company, staffRow, type Crm } from "../../support/world/crm.ts";

const somebodyElse = { login: "zqcanarylogin77", name: "Zqcanary Otherone", mobile: "+49177007007999" };

/** Missing records are absent soon. */
async function companies(count: number, people: number): Promise<World> {
  const w = await world({ records: company(count, people) });
  Object.assign(w.environment, {
    CRM_SYNC__limits__absenceTime: "0s",
    CRM_SYNC__limits__removals__enterprise__floor: "100",
    CRM_SYNC__limits__removals__run__share: "1",
    CRM_SYNC__limits__removals__day__share: "1",
    CRM_SYNC__limits__removals__week__share: "1",
  });
  expect((await ran(w)).exitCode).toBe(0);
  return w;
}

function first<T>([one]: readonly T[]): T {
  if (one === undefined) throw new Error("nobody");
  return one;
}

async function becomesAbsent(w: World, kind: string, id: string, ...options: string[]): Promise<void> {
  w.write();
  for (let run = 0; run < 4; run += 1) await w.run("run", "everything", ...options);
  expect((await w.ask("explain", kind, id)).record.state).toBe("absent");
}

async function waits(w: World, ...codes: string[]): Promise<void> {
  const ended = await w.does("run", "everything");
  expect(ended.calls, ended.stdout).toEqual({});
  expect([3, 4], ended.stdout).toContain(ended.exitCode);
  expect((await quarantined(w)).map(({ code }) => code)).toEqual(codes.length === 0 ? ["id-names-another"] : codes);
}

it.each([
  ["one of several", 2, []],
  ["the only one", 1, ["--accept-shrink", "hr/staff=1"]],
])(
  "the account of a person who left (%s) is not given to another one with the same id",
  async (_who, people, options) => {
    const w = await companies(people === 1 ? 1 : 4, people);
    const anna = first(w.staff);
    const others = w.staff.slice(1);
    w.staff = others;
    await becomesAbsent(w, "staff", anna.id, ...options);
    w.staff = [{ ...anna, ...somebodyElse }, ...others];
    w.write();
    for (let run = 0; run < 2; run += 1) await waits(w);
  },
);

it("the enterprise of a customer who is gone gets no orders of another one with the same id", async () => {
  const w = await companies(4, 1);
  const { id } = first(w.customers);
  const others = w.customers.slice(1);
  w.customers = others;
  w.orders = w.orders.filter(({ customer }) => customer !== id);
  w.staff = w.staff.filter(({ customer }) => customer !== id);
  await becomesAbsent(w, "customer", id);
  const another = {
    id,
    name: "Zqcanary Works Otherone",
    address: "Zqcanary Road 99",
    contact: "Zqcanary Bosstwo",
    account: "zqcanarybosstwo",
    email: "zqcanary2@example.com",
    mobile: "+49177007007998",
  };
  w.customers = [another, ...others];
  w.orders.push({ id: "O99", customer: id, assets: ["O99-A1"] });
  w.write();
  for (let run = 0; run < 2; run += 1) await waits(w);
});

it("a row that names another person waits on when a policy or the row changes", async () => {
  const w = await companies(4, 1);
  const change = (to: Partial<Crm["staff"][number]>): void => {
    w.staff = w.staff.map((one, at) => (at === 1 ? { ...one, ...to } : one));
    w.write();
  };
  change({ ...somebodyElse, holds: [] });
  await waits(w);
  w.environment["CRM_SYNC__policies__staff__left"] = "ignore";
  await waits(w);
  change({ mobile: null });
  await waits(w);
});

it("two people whose names are swapped wait, also when one name changes again", async () => {
  const w = await companies(1, 3);
  const rename = (...names: string[]): void => {
    w.staff = w.staff.map((one, at) => {
      const name = names[at];
      return name === undefined ? one : { ...one, name: `Zqcanary ${name}`, mobile: null };
    });
    w.write();
  };
  rename("Anna", "Berta");
  expect((await ran(w)).exitCode).toBe(0);
  rename("Berta", "Anna");
  await waits(w, "looks-like-another", "looks-like-another");
  rename("Cleo");
  await waits(w, "looks-like-another", "looks-like-another");
  rename("Anna", "Berta");
  expect((await ran(w)).exitCode).toBe(0);
  expect(await quarantined(w)).toEqual([]);
});

it("an id that two sources gave to two people names another person when one source is removed", async () => {
  const w = await world({ records: company(2, 1) });
  const configure = (...names: string[]): void =>
    writeFileSync(
      w.path("crm-sync.yaml"),
      stringify({
        ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
        zone: "UTC",
        sources: {
          crm: fileSource("data", ["customers", "orders"]),
          ...Object.fromEntries(names.map((name) => [name, fileSource(name, ["staff"])])),
        },
        jobs: { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } },
      }),
    );
  const put = (name: string, staff: typeof w.staff): void => {
    mkdirSync(w.path(name), { recursive: true });
    writeFileSync(w.path(`${name}/staff.ndjson`), lines(staff.map(staffRow)));
  };
  const anna = first(w.staff);
  const others = w.staff.slice(1);
  configure("hr");
  put("hr", w.staff);
  expect((await ran(w)).exitCode).toBe(0);
  configure("hr", "agency");
  put("agency", [{ ...anna, ...somebodyElse, holds: [] }, ...others]);
  expect((await w.does("run", "everything")).calls).toEqual({});
  configure("agency");
  await waits(w);
});
