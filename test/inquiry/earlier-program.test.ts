import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { standAsOf } from "../../src/inquiry/as-of/as-of.ts";
import { ReadOnlyLedger } from "../../src/inquiry/read-only-ledger.ts";
import { migrate, migrations, openDatabase, openReadOnly } from "../../src/ledger/database/database.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";
import { folder, openLedger, sqlite } from "../support/world/start.ts";
import { cells, month } from "./statement/statement-world.ts";
import { rowsOf } from "./statement/stated.ts";

const ofRows = "select name from pragma_table_list where schema = ? and type = 'table'";

/** A ledger as the program before the 32nd migration left it, with what this one has; it keeps no intervals. */
async function asBefore(world: LedgerWorld): Promise<string> {
  const copy = join(folder(), "now.db");
  writeFileSync(copy, sqlite(world.path).serialize());
  const path = join(folder(), "ledger.db");
  const earlier = await openDatabase(path, { migrate: false });
  const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0032"));
  await migrate(earlier, path, { getMigrations: async () => before });
  earlier.exec(`attach '${copy}' as now`);
  const tables = earlier.prepare<[string], string>(ofRows).pluck().all("main");
  // Tallies are kept by triggers, and count what is copied.
  for (const name of tables.filter((one) => !/^sqlite_|^kysely_|tally$/u.test(one))) {
    const columns = earlier
      .prepare<[string], string>("select name from pragma_table_info(?, 'main')")
      .pluck()
      .all(name)
      .map((column) => `"${column}"`)
      .join(", ");
    earlier.exec(`insert or ignore into main."${name}" (${columns}) select ${columns} from now."${name}"`);
  }
  earlier.exec("delete from meta where key in ('moment', 'stood since')");
  earlier.close();
  return path;
}

/** Two customers. What waits from 10 October on waits still; what was in quarantine and waited before is over. */
async function october(): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-02T10:00:00Z");
  for (const id of ["C1", "C2"]) {
    await world.read("customers", [{ customers: customerRecord(id) }]);
    await world.link(key(id), `E-${id}`);
    await world.read("orders", [{ orders: orderRecord(`O-${id}`, id) }]);
  }
  const waits = (id: string) =>
    ({ stream: "orders", key: key(`O-${id}`), code: "order.overlap", reason: "later" }) as const;
  await world.ledger.records.setOutcomes(world.run, [{ ...waits("C1"), outcome: "deferred" }]);
  await world.reject("staff", key("S1"), { customer: key("C2") });
  await world.observe(key("C1"), []);
  world.now = Date.parse("2026-10-10T10:00:00Z");
  await world.ledger.records.setOutcomes(world.run, [
    { ...waits("C1"), outcome: "planned" },
    { ...waits("C2"), outcome: "deferred" },
  ]);
  await world.reject("staff", key("S1"), { customer: key("C2"), code: "not-a-date" });
  await world.observe(key("C1"), []);
  world.now = Date.parse("2026-10-12T10:00:00Z");
  await world.ledger.runs.finish(world.run, { state: "done", exitCode: 3, balance: {}, summary: {} });
  return world;
}

function reading(path: string, asOf?: string): ReadOnlyLedger {
  const ledger = new ReadOnlyLedger(path, openReadOnly(path));
  onTestFinished(() => ledger.close());
  if (asOf !== undefined) standAsOf(ledger, asOf);
  return ledger;
}

describe("a ledger that an earlier program wrote", () => {
  it("says from when on it knows what waited, and guesses nothing of before", { tags: "long" }, async () => {
    const path = await asBefore(await october());
    const { ledger, time } = await openLedger({ path });
    const since = "2026-10-12T10:00:00.000Z";
    const told = async (label: string, asOf?: string) => {
      const request = { period: month(label), by: "happened", filters: {}, asOf } as const;
      const { exceptions } = await rowsOf(reading(path, asOf), "exceptions", request);
      return cells(exceptions, "kind", "open", "code", "since");
    };
    const standing = [
      ["quarantined", true, "not-a-date", "2026-10-02T10:00:00.000Z"],
      ["deferred", true, "order.overlap", "2026-10-10T10:00:00.000Z"],
    ];
    const unknown = ["not-known", false, null, month("2026-10").from];
    const resolved = ["quarantined", false, "missing", "2026-10-02T10:00:00.000Z"];
    const inOctober = await told("2026-10");
    expect(inOctober[0]).toEqual(unknown);
    expect(inOctober).toHaveLength(4);
    expect(inOctober).toEqual(expect.arrayContaining([unknown, resolved, ...standing]));
    expect(await told("2026-11")).toEqual(standing);
    const { reason } = (
      await rowsOf(reading(path), "exceptions", { period: month("2026-10"), by: "happened", filters: {} })
    )["exceptions"]?.[0] ?? { reason: "" };
    expect(reason).toContain(`not known before ${since}`);
    // What was read by an earlier moment, and waited then, is refused by name.
    const early = "2026-10-05T10:00:00.000Z";
    const reconciled = { period: month("2026-10"), by: "happened", filters: {}, asOf: early } as const;
    for (const kind of ["reconciliation", "corrections"] as const)
      await expect(rowsOf(reading(path, early), kind, reconciled)).rejects.toThrow(`not known before ${since}`);
    // From there on nothing is lost any more.
    time.at = Date.parse("2026-10-20T10:00:00Z");
    await ledger.records.setOutcomes("run_2", [{ stream: "orders", key: key("O-C2"), outcome: "planned" }]);
    const asOf = "2026-10-15T10:00:00.000Z";
    expect(await told("2026-10", asOf)).toEqual(inOctober);
    expect((await told("2026-10")).filter(([kind, open]) => kind === "deferred" && open === true)).toEqual([]);
    const after = await rowsOf(reading(path, asOf), "reconciliation", { ...reconciled, asOf });
    expect(after["items"]?.length).toBeGreaterThan(1);
  });

  it("has what is resolved by now as in quarantine until then", async () => {
    const path = await asBefore(await october());
    await openLedger({ path });
    const stood = "select state, to_at is null as lasts from quarantine_stood order by from_at, to_at is null";
    expect(sqlite(path).prepare(stood).all()).toEqual([
      { state: "open", lasts: 0 },
      { state: "open", lasts: 1 },
    ]);
  });
});
