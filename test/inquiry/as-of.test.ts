import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";

import { standAsOf } from "../../src/inquiry/as-of/as-of.ts";
import { schema } from "../../migrations/0001_ledger.ts";
import { tablesAsOf } from "../../src/inquiry/as-of/tables.ts";
import { auditHead } from "../../src/inquiry/audit.ts";
import { ReadOnlyLedger } from "../../src/inquiry/read-only-ledger.ts";
import type { AuditRow } from "../../src/ledger/audit/audit-log.ts";
import { RecordTree } from "../../src/ledger/audit/kept-tree.ts";
import { openReadOnly } from "../../src/ledger/database/database.ts";
import { company } from "../support/world/crm.ts";
import { rowsOf, statementKinds } from "./statement/stated.ts";
import { openHolds, operationsOf, unsettled } from "../support/asking.ts";
import { world, type Parsed, type World } from "../support/cli.ts";

const period = { label: "2026", zone: "UTC", from: "2000-01-01T00:00:00.000Z", to: "2100-01-01T00:00:00.000Z" };

/**
 * What is known as of a moment only as it is now, or as far as `tables.ts` says: columns by table. Everything else is
 * as it was.
 */
const asFarAsKnown: Readonly<Record<string, readonly string[]>> = {
  // Nobody is asked any more how often it was to be looked at and where it was seen last.
  record: [
    "outcome",
    "outcome_run",
    "last_read",
    "missed",
    "missed_since",
    "pending",
    "raw_hash",
    "flips",
    "previous_hash",
    "changed_run",
  ],
  quarantine: ["last_seen", "last_read"],
  operation: ["evidence", "settle_after", "context", "approved"],
  observation: ["seen_at"],
  observation_read: ["shown_hash"],
  difference: ["detail"],
  placed_order: ["products", "agreed_hash", "agreed_version"],
  asset_number: ["unit"],
  staff_link: ["profile"],
  assumption_met: ["count", "last_at", "evidence", "operation_id"],
  alert: ["body"],
};

/** Tables of which a row that ended since is not known any more: what is there as of a moment was there then. */
const mayLack = new Set(["alert", "last_fire_time", "open_circuit", "rejection"]);

function connection(path: string): ReadOnlyLedger {
  const ledger = new ReadOnlyLedger(path, openReadOnly(path));
  onTestFinished(() => ledger.close());
  return ledger;
}

type Rows = Record<string, unknown>[];

/** Every row of every table that stands as of a moment, without what is known only as it is now. */
function tables(ledger: ReadOnlyLedger): Map<string, Rows> {
  return ledger.reading((database) => {
    const all = Object.entries(tablesAsOf).filter(([, known]) => known !== "now");
    return new Map(
      all.map(([name]) => {
        const rows = database.prepare<[], Record<string, unknown>>(`select * from "${name}"`).all();
        const left = new Set(asFarAsKnown[name]);
        const kept = rows.map((row) =>
          Object.fromEntries(
            Object.entries(row).filter(
              ([column]) => !left.has(column) && !(column === "updated_at" && row["state"] === "held"),
            ),
          ),
        );
        return [name, kept.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))];
      }),
    );
  });
}

/** Every statement. */
async function reports(ledger: ReadOnlyLedger, asOf?: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const kind of statementKinds) {
    const parts = await rowsOf(ledger, kind, { period, by: "happened", filters: {}, asOf });
    const lines = Object.entries(parts).flatMap(([part, rows]) => rows.map((row) => JSON.stringify({ part, ...row })));
    texts[kind] = lines.join("\n");
  }
  return texts;
}

function rootOf(tree: RecordTree): { size: number; root: string } {
  const { size, root } = tree.checkpoint();
  return { size, root };
}

interface Step {
  name: string;
  at: string;
  tables: Map<string, Rows>;
  reports: Record<string, string>;
}

async function taken(w: World, name: string): Promise<Step> {
  w.clock.at += 1_000;
  const at = new Date(w.clock.now()).toISOString();
  const ledger = connection(w.path("ledger.db"));
  return { name, at, tables: tables(ledger), reports: await reports(ledger) };
}

const heldOf = async (w: World, person: string): Promise<Parsed> =>
  (await operationsOf(w, "staff", person)).find(({ state }) => state === "held");

/** A company to which much happens; what the ledger and its reports said after each step. */
async function history(options: { brief?: true } = {}): Promise<{ w: World; steps: Step[] }> {
  const w = await world({ records: company(4, 2) });
  const steps: Step[] = [];
  const step = async (name: string, ...words: string[]): Promise<void> => {
    w.write();
    const ended = await w.run(...words);
    expect([0, 3, 4, 5], `${name}: ${ended.stdout}${ended.stderr}`).toContain(ended.exitCode);
    steps.push(await taken(w, name));
  };
  w.extra = "orders: { unseen: ask }\npolicies: { assignments: { revoked: ask } }\n";
  await step("everything is granted", "run", "everything");
  const [first] = w.orders;
  if (first === undefined) throw new Error("there is no order");
  first.products = ["O1-A1", "O1-A2"].map((asset) => ({ id: `${asset}-P`, parent: asset, price: "999.99" }));
  w.orders.push({ id: "O5", customer: "C1", assets: ["O5-A1"] });
  w.orders.push({ id: "O6", customer: "C2", assets: ["O6-A1"], products: [{ id: "X", parent: "O6-A1", nodes: -1 }] });
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  await step("an order in doubt, another in quarantine, a price corrected", "run", "everything");
  w.sandbox.faults.clear();
  await step("nothing new", "run", "everything");
  if (options.brief === true) return { w, steps };
  await step(
    "somebody decides",
    "settle",
    (await unsettled(w))[0].id,
    "--not-applied",
    "--reason",
    "not there",
    "--by",
    "anna",
  );
  for (const person of w.staff) if (["S1-1", "S2-1", "S3-1"].includes(person.id)) person.holds = [];
  await step("revokes are held", "run", "everything");
  await step("one is approved", "approve", (await heldOf(w, "S1-1")).id, "--reason", "asked for", "--by", "anna");
  await step("it is carried out", "run", "everything");
  await step("a hold is rejected", "reject", (await openHolds(w))[0].id, "--reason", "a mistake", "--by", "boris");
  w.orders = w.orders.map((order) =>
    order.id === "O6" ? { ...order, products: [{ id: "X", parent: "O6-A1" }] } : order,
  );
  w.customers.push({ id: "C9", address: null });
  w.orders.push({ id: "O9", customer: "C9", assets: ["O9-A1"] });
  await step("the row in quarantine is corrected, a customer without address comes", "run", "everything");
  await step("everything is read back", "run", "verify");
  w.sandbox.dropOrders("O2");
  await step("an order is gone from the platform", "run", "verify");
  w.staff = w.staff.filter(({ id }) => id !== "S4-1");
  await step("somebody is missing", "run", "everything");
  await step("everything is read back again", "run", "verify");
  return { w, steps };
}

describe("as of a moment in the past", () => {
  it("decides on every table of the ledger", () => {
    const names = [...schema.matchAll(/^create table "?(\w+)"?/gmu)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(40);
    expect(Object.keys(tablesAsOf).toSorted()).toEqual(names.toSorted((a = "", b = "") => (a < b ? -1 : 1)));
  });

  it(
    "the audit log ends with the last entry by then, under the root that its tree had then",
    { tags: "long" },
    async () => {
      const { w } = await history({ brief: true });
      const ledger = connection(w.path("ledger.db"));
      const entries = ledger.reading((database) =>
        database.prepare<[], AuditRow>("select * from audit order by sequence").all(),
      );
      expect(entries.length).toBeGreaterThan(20);
      const tree = new RecordTree();
      for (const entry of entries) {
        tree.take(entry);
        if (entries[entry.sequence]?.at === entry.at) continue;
        const then = connection(w.path("ledger.db"));
        standAsOf(then, entry.at);
        expect(await auditHead(then)).toMatchObject({
          sequence: entry.sequence,
          hash: entry.hash,
          at: entry.at,
          ...rootOf(tree),
        });
        expect(await reports(then, entry.at)).toHaveProperty("orders");
        then.close();
      }
    },
  );

  it(
    "refuses a moment before the ledger began, and one of which retention left too little",
    { tags: "long" },
    async () => {
      const { w, steps } = await history({ brief: true });
      const open = (at: string): void => standAsOf(connection(w.path("ledger.db")), at);
      expect(() => open("2020-01-01T00:00:00.000Z")).toThrow(/the ledger began at 2026-/u);
      const [first, second, third] = steps.map(({ at }) => at);
      if (first === undefined || second === undefined || third === undefined) throw new Error("nothing happened");
      const said = (until: Record<string, string>, thinned: Record<string, number>): void => {
        const database = new Database(w.path("ledger.db"));
        const entry = database.prepare<[], AuditRow>("select * from audit order by sequence desc limit 1").get();
        const body = JSON.stringify({ until, thinned });
        database
          .prepare(
            `insert into audit (sequence, format, at, kind, subject, body, previous, hash, salt)
             values (@sequence + 1, 2, @at, 'retention', 'ledger', @body, @hash, @hash, @salt)`,
          )
          .run({ ...entry, body });
        database.close();
      };
      said({ runDays: third, observationDays: third }, { reads: 3, runs: 1 });
      open(first);
      said({ runDays: third, observationDays: second }, { observations: 1, runs: 1 });
      expect(() => open(first)).toThrow(`history that ended before ${second} was thinned`);
      const ledger = connection(w.path("ledger.db"));
      for (const at of [second, second]) standAsOf(ledger, at);
      expect(() => standAsOf(ledger, third), "one moment on each connection").toThrow(/reads as of/u);
    },
  );

  it("every table and every report is what it was then, but for what is documented", { tags: "long" }, async () => {
    const { w, steps } = await history();
    for (const step of steps) {
      const then = connection(w.path("ledger.db"));
      standAsOf(then, step.at);
      const found = tables(then);
      for (const [name, rows] of step.tables) {
        if (mayLack.has(name)) {
          expect.soft(rows, `${name} as of ${step.name}`).toEqual(expect.arrayContaining(found.get(name) ?? []));
          continue;
        }
        expect.soft(found.get(name), `${name} as of ${step.name}`).toEqual(rows);
      }
      expect.soft(await reports(then, step.at), `reports as of ${step.name}`).toEqual(step.reports);
    }
  });
});
