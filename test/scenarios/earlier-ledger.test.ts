import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { byPython, hasPython, verifierAlone } from "../support/audit-record.ts";
import { canary, company } from "../support/world/crm.ts";
import type { Crm } from "../support/world/crm.ts";
import { expectDecent, world } from "../support/cli.ts";
import { folder } from "../support/world/start.ts";
import type { World } from "../support/cli.ts";

/**
 * A ledger with the sandbox it belongs to, as the version before the third migration left them when it was killed:
 * three calls in progress (E2, E5 and M1, each for one of C3, C4 and C5), an order parked (C2), six revokes held (C7),
 * an M9 that was refused (C6), an order and a person in quarantine (C1), initial passwords sealed with the first
 * format.
 */
const earlier = join(import.meta.dirname, "../ledger/earlier");

function unpack(name: string, to: string): void {
  writeFileSync(to, gunzipSync(readFileSync(join(earlier, `${name}.gz`))));
}

/** What the CRM held then. */
function recordsThen(): Crm {
  const six = company(6, 1);
  const last = company(7, 8);
  const staff = last.staff.filter((person) => person.customer === "C7");
  for (const person of staff.slice(0, 6)) person.holds = [];
  const bad = { id: "O1b-P", parent: "O1b-A1", nodes: -1 };
  return {
    customers: [...six.customers, ...last.customers.slice(6)],
    orders: [
      ...six.orders,
      ...last.orders.slice(6),
      { id: "O1b", customer: "C1", assets: ["O1b-A1"], products: [bad] },
    ],
    staff: [...six.staff, ...staff, { id: "S1-2", customer: "C1", login: `${canary.login}1x2`, name: "" }],
  };
}

const columns = "sequence, format, at, kind, subject, body, previous, hash";

/** The numbers that are kept as rows come and go are those that counting gives. */
function expectTallied(w: World): void {
  const live = ["link", "placed_order", "staff_link", "assignment"].map(
    (table) => `select '${table}' as name, count(*) as count from ${table} where to_at is null`,
  );
  const counted = [
    ...live,
    "select 'asset_number fixed', count(*) from asset_number where fixed_at is not null",
    "select 'staff_link adopted', count(*) from staff_link where to_at is null and origin = 'adopted'",
    // An order has as many products of an asset as the asset has numbers.
    `select 'product', count(*) from placed_order p
      join record_version v on v.stream = 'orders' and v.namespace = p.namespace and v.id = p.order_id
        and v.version = p.version
      join json_each(v.body, '$.instances') i join asset_number n on n.namespace = p.namespace
        and n.order_id = p.order_id and n.instance_id = i.value ->> 'parentId'
      where p.to_at is null and i.value ->> 'kind' = 'product'`,
  ];
  expect(w.rows("select name, count from tally where name not like 'observation%' order by name")).toEqual(
    w.rows(`select * from (${counted.join(" union all ")}) order by name`),
  );
  expect(w.rows("select * from record_tally where count > 0 order by stream, state")).toEqual(
    w.rows("select stream, state, count(*) as count, sum(pending) as pending from record group by 1, 2 order by 1, 2"),
  );
}

it("a ledger that an earlier version was killed with is migrated unchanged, settled, finished, and not replaced by its old self", async () => {
  const store = join(folder(), "sandbox.db");
  unpack("sandbox.db", store);
  const w = await world({ records: recordsThen(), sandbox: { store } });
  w.extra = "orders: { unseen: ask }\n";
  w.write();
  unpack("ledger.db", w.path("ledger.db"));
  copyFileSync(join(earlier, "heads.ndjson"), w.path("ledger.db.heads"));
  const does = async (exit: number, ...words: string[]): Promise<{ stdout: string; calls: Record<string, number> }> => {
    const { result, calls } = await w.writes(() => w.run(...words));
    expect(result.exitCode, `${words.join(" ")}\n${result.stdout}${result.stderr}`).toBe(exit);
    return { stdout: result.stdout + result.stderr, calls };
  };
  const audit = (): unknown[] => w.rows(`select ${columns} from audit where sequence <= 33 order by sequence`);
  const before = audit();
  expect(before).toHaveLength(33);

  expect((await does(65, "audit", "verify")).stdout).toContain("run `crm-sync migrate`");
  await does(0, "migrate");
  expect(audit()).toEqual(before);
  // Nothing was recorded since that ledger was kept.
  expect((await does(3, "audit", "verify")).stdout).toMatch(/^integrity +good: 33 entries[^]*^freshness +STALE/mu);
  expectTallied(w);
  const status = (await does(0, "status")).stdout;
  expect(status).toContain("6 held, 1 parked, 3 sending");
  expect(status).toContain("1 order is in quarantine (does-not-fit), owner: the CRM: crm/O1b");

  // What was in progress is settled by reading: the enterprise and the person are made, an order that is not shown
  // waits for a person.
  const settled = await does(5, "run", "everything");
  expect(settled.stdout).toContain("found interrupted, and ended");
  // What was refused then is tried once by the rules of now, and has no fault any more.
  expect(settled.calls).toEqual({ E2: 1, E5: 1, M1: 2, M9: 3 });
  expect(settled.stdout).not.toContain("operation.rejected");
  const parked = w.rows<{ id: string; subject: string }>(
    "select id, subject from operation where state = 'parked' order by subject",
  );
  expect(parked.map((row) => row.subject)).toEqual(["order:crm/O2", expect.stringMatching(/order:crm.O[34]/u)]);
  // A receiver of alerts that goes by the key hears last of what still stands.
  const heard = /"event":"alert\.(\w+)","key":"quarantine"/gu;
  expect([...settled.stdout.matchAll(heard)].map(([, event]) => event)).toEqual(["ended", "started"]);

  await does(0, "settle", ...parked.map((row) => row.id), "--not-applied", "--reason", "none there", "--by", "anna");
  const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
  await does(0, "approve", hold?.id ?? "", "--reason", "asked the customer", "--by", "anna");
  for (const person of w.staff) if (person.id === "S1-2") person.name = canary.person;
  for (const order of w.orders) if (order.id === "O1b") delete order.products;
  w.write();
  expect((await does(0, "run", "everything")).calls).toEqual({ E5: 3, M1: 3, M9: 8 });
  expect((await does(0, "run", "everything")).calls).toEqual({});
  expect(Object.values(w.sandbox.duplicates()).flat()).toEqual([]);
  expect(w.sandbox.state()).toMatchObject({ enterprises: 7, licenseOrders: 8, addedStaff: 15, assignments: 8 });
  expectTallied(w);
  expect(audit()).toEqual(before);
  expect((await does(0, "audit", "verify")).stdout).toContain("good: 6");
  // The chain that was verified is the first leaf of the tree that grew since.
  await does(0, "audit", "export", "--out", w.path("audit.ndjson"));
  const verifier = join(import.meta.dirname, "../../docs/audit/verify.mjs");
  const words = [verifier, w.path("audit.ndjson"), "--heads", w.path("ledger.db.heads")];
  const checked = spawnSync(process.execPath, words, { encoding: "utf8" });
  const entries = w.rows("select 1 from audit").length;
  expect([checked.status, checked.stdout], checked.stderr).toEqual([
    0,
    expect.stringContaining(`tree: ${entries - 33 + 1} leaves`),
  ]);
  await does(0, "audit", "prove", "--order", "O2", "--since", "40", "--out", w.path("proof.json"));
  expect(JSON.parse(readFileSync(w.path("proof.json"), "utf8"))).toMatchObject({
    tree: { chain: { entries: 33 } },
    since: { sequence: 40, size: 8 },
  });
  const mixed = verifierAlone()(w.path("proof.json"));
  expect(mixed).toMatchObject({ code: 0, said: expect.stringMatching(/^grown: .* of entry 40, /mu) });
  for (const path of hasPython ? [w.path("proof.json"), w.path("audit.ndjson")] : [])
    expect(byPython(path), path).toEqual({ code: 0, said: "good\n" });
  const proven = await w.run("audit", "prove", "--order", "O1");
  expect([proven.exitCode, JSON.parse(proven.stdout).entriesBeforeTheTree, proven.stderr]).toEqual([
    0,
    1,
    expect.stringContaining("from before the Merkle tree: 1. This does not prove them; crm-sync audit export does"),
  ]);
  // A password that the first format sealed is handed out.
  expect((await w.run("staff", "password", "S1-1")).stdout).toMatch(/^[\w-]{16}\n/u);

  for (const suffix of ["-wal", "-shm"]) rmSync(w.path(`ledger.db${suffix}`), { force: true });
  unpack("ledger.db", w.path("ledger.db"));
  const refused = await does(65, "run", "everything");
  expect(refused.stdout).toContain("is an older copy");
  expect(refused.calls).toEqual({});
  expectDecent([], { stdout: refused.stdout, stderr: "" });
});

it("a ledger whose chain of entries is not whole is not migrated: its first leaf would say that it is", async () => {
  const w = await world({ records: recordsThen() });
  unpack("ledger.db", w.path("ledger.db"));
  w.tamper("drop trigger audit_refuses_update; update audit set body = replace(body, '1', '2') where sequence = 7");
  const before = w.rows("select * from audit");
  const refused = await w.run("migrate");
  expect([refused.exitCode, refused.stderr]).toEqual([
    65,
    expect.stringContaining("entry 7 was changed, or is missing"),
  ]);
  expect(w.rows("select * from audit")).toEqual(before);
});
