import { describe, expect, it } from "vitest";
import { type JsonObject, sha256 } from "../../src/base/canonical-json.ts";
import type { Stream } from "../../src/crm/model.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { key } from "../support/world/records.ts";
import { openLedger, rowsOf, sqlite } from "../support/world/start.ts";
import { trusted } from "../support/trusted.ts";

interface Row {
  id: string;
  body?: JsonObject;
  /** A row that cannot be used; `nameless`: not even its id can be read. */
  bad?: string;
  nameless?: boolean;
  /** Something in the raw row that the mapping leaves out. */
  extra?: string;
  /** null: the row does not say whose it is. */
  customer?: string | null;
}

/** One reading of a source, as a run makes it: what is as it was is marked, the rest is mapped and taken up. */
async function read(
  ledger: Ledger,
  rows: readonly Row[],
  options: { source?: string; stream?: Stream; whole?: boolean; confirmations?: number; run?: string } = {},
): Promise<{ unchanged: number; changed: number; quarantined: number; absent: number; mapped: number }> {
  const { source = "erp", stream = "customers", whole = true, confirmations = 3, run = "run-1" } = options;
  const reading = await ledger.records.startRead(run, source, stream);
  const hashOf = (row: Row): string => sha256(JSON.stringify([source, row]));
  const seen = await reading.markSeen(rows.map(hashOf));
  const fresh = rows.filter((row) => !seen.unchanged.has(hashOf(row)) && !seen.quarantined.has(hashOf(row)));
  const taken = await reading.ingest(
    fresh.map((row) => {
      const common = { rawHash: hashOf(row), place: `${source}.csv:1`, raw: JSON.stringify(row) };
      const owner = key(row.customer ?? row.id);
      if (row.bad !== undefined) {
        const known = row.nameless !== true;
        return {
          rejection: {
            ...common,
            key: known ? key(row.id) : undefined,
            customer: known && row.customer !== null ? owner : undefined,
            field: "name",
            code: "missing",
            message: row.bad,
            expected: "a text",
          },
        };
      }
      return { record: { ...common, key: key(row.id), customer: owner, record: { id: row.id, ...row.body } } };
    }),
  );
  await reading.finish({ complete: true, whole, rows: rows.length, bad: 0 });
  const absent = whole
    ? (
        await reading.closeWhole({
          reads: confirmations,
          ms: 0,
          time: async () => trusted,
        })
      ).absent
    : 0;
  return {
    unchanged: taken.unchanged + rows.filter((row) => seen.unchanged.has(hashOf(row))).length,
    changed: taken.changed,
    quarantined: taken.quarantined + rows.filter((row) => seen.quarantined.has(hashOf(row))).length,
    absent,
    mapped: fresh.length,
  };
}

function stateOf(path: string, id: string, stream = "customers"): Record<string, unknown> | undefined {
  return sqlite(path, { readonly: true })
    .prepare<[string, string], Record<string, unknown>>(
      "select state, version, pending, source, missed from record where stream = ? and id = ?",
    )
    .get(stream, id);
}

function openReasons(path: string): string[] {
  return sqlite(path, { readonly: true })
    .prepare<[], string>(
      "select source || ' ' || code || ' ' || coalesce(record_id, '-') from quarantine where state <> 'resolved' order by 1",
    )
    .pluck()
    .all();
}

const a = { id: "A", body: { branch: "1" } };
const b = { id: "B", body: { branch: "1" } };

describe("records that are read again", () => {
  it("cost no mapping and no version while their raw form is as it was", async () => {
    const { ledger, path } = await openLedger();
    expect(await read(ledger, [a, b])).toMatchObject({ changed: 2, unchanged: 0, mapped: 2 });
    expect(await read(ledger, [a, b])).toMatchObject({ changed: 0, unchanged: 2, mapped: 0 });
    expect(stateOf(path, "A")).toMatchObject({ version: 1, state: "current" });
  });

  it("get a version when their content changed, and wait to be planned", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a]);
    await ledger.records.setOutcomes("run-1", [{ stream: "customers", key: key("A"), outcome: "planned" }]);
    expect(stateOf(path, "A")).toMatchObject({ pending: 0 });
    expect(await read(ledger, [{ ...a, body: { branch: "2" } }])).toMatchObject({ changed: 1 });
    expect(stateOf(path, "A")).toMatchObject({ version: 2, pending: 1 });
    const versions = sqlite(path)
      .prepare("select version, to_at is null as now from record_version order by version")
      .all();
    expect(versions).toEqual([
      { version: 1, now: 0 },
      { version: 2, now: 1 },
    ]);
  });

  it("count how often in a row they came back to the form before their last one", async () => {
    const { ledger, path } = await openLedger();
    const flips: unknown[] = [];
    for (const branch of ["1", "2", "1", "1", "2", "1", "3", "1", "3"]) {
      await read(ledger, [{ ...a, body: { branch } }, b]);
      flips.push(sqlite(path).prepare("select flips from record where id = 'A'").pluck().get());
    }
    expect(flips).toEqual([0, 0, 1, 1, 2, 3, 0, 1, 2]);
    expect(rowsOf(path, "select flips, previous_hash from record where id = 'B'")).toEqual([
      { flips: 0, previous_hash: null },
    ]);
  });

  it("are unchanged when only what the mapping leaves out changed", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a]);
    await ledger.records.setOutcomes("run-1", [{ stream: "customers", key: key("A"), outcome: "planned" }]);
    expect(await read(ledger, [{ ...a, extra: "x" }])).toMatchObject({ changed: 0, unchanged: 1, mapped: 1 });
    expect(stateOf(path, "A")).toMatchObject({ version: 1, pending: 0 });
    expect(await read(ledger, [{ ...a, extra: "x" }])).toMatchObject({ unchanged: 1, mapped: 0 });
  });

  it("wake what was deferred because of the customer", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a]);
    await read(ledger, [{ id: "O", customer: "A" }], { stream: "orders" });
    await ledger.records.setOutcomes("run-1", [
      { stream: "orders", key: key("O"), outcome: "deferred", code: "customer.no-address", reason: "r", again: false },
    ]);
    expect(stateOf(path, "O", "orders")).toMatchObject({ pending: 0 });
    await read(ledger, [{ ...a, body: { branch: "1", place: "2" } }]);
    expect(stateOf(path, "O", "orders")).toMatchObject({ pending: 1 });
  });
});

describe("records that wait for nothing that comes by itself", () => {
  it("are looked at once under each set of rules, and those in quarantine are not", async () => {
    const { ledger, path } = await openLedger();
    expect(await ledger.records.decideBy("1.0")).toBe(0);
    await read(ledger, [a, b, { id: "C", body: { branch: "1" } }]);
    const waits = { stream: "customers", outcome: "deferred", code: "customer.stale", reason: "x" } as const;
    const done = { stream: "customers", key: key("B"), outcome: "planned" } as const;
    await ledger.records.setOutcomes("r", [{ ...waits, key: key("A") }, done, { ...waits, key: key("C") }]);
    sqlite(path).exec("update record set state = 'quarantined' where id = 'C'");
    const pending = () => sqlite(path).prepare("select id from record where pending = 1").pluck().all();
    expect([await ledger.records.decideBy("1.0"), pending()]).toEqual([0, []]);
    expect([await ledger.records.decideBy("1.1"), pending()]).toEqual([1, ["A"]]);
    await ledger.records.setOutcomes("r", [{ ...waits, key: key("A") }]);
    expect([await ledger.records.decideBy("1.1"), pending()]).toEqual([0, []]);
  });
});

it("the wait of a record begins with its reason, whoever defers it", async () => {
  const { ledger, path } = await openLedger();
  const since = "2026-01-01T00:00:00.000Z";
  const deferred = async (of: "A" | undefined, code: string): Promise<unknown> => {
    await read(ledger, [{ ...a, body: { branch: code } }]);
    sqlite(path).exec(`update record set deferred_code = 'customer.stale', deferred_since = '${since}'`);
    await ledger.records.deferPending("run-1", of && key(of), code, "r");
    sqlite(path).exec("update record set outcome_run = null");
    return sqlite(path).prepare("select deferred_since from record").pluck().get();
  };
  for (const of of ["A", undefined] as const) {
    expect(await deferred(of, "customer.stale")).toBe(since);
    expect(await deferred(of, "run.canary")).not.toBe(since);
    expect(await deferred(of, "run.scope")).toBe(since);
  }
});

describe("a record that is as it was", () => {
  it("is not written for: of a thousand, the one that changed and the one that is missing are", async () => {
    const { ledger, path } = await openLedger();
    const rows = Array.from({ length: 1_000 }, (_, index) => ({ id: `R${index}`, body: { branch: "1" } }));
    await read(ledger, rows);
    const changed = rows.slice(1).with(500, { id: "R501", body: { branch: "2" } });
    expect(await read(ledger, changed)).toMatchObject({ unchanged: 998, changed: 1, mapped: 1 });
    const database = sqlite(path);
    const written = database.prepare<[], string>("select id from record where last_read = 2 or missed > 0").pluck();
    expect(written.all()).toEqual(["R0", "R501"]);
    expect(stateOf(path, "R0")).toMatchObject({ missed: 1 });
    expect(await read(ledger, rows.toReversed()), "in another order").toMatchObject({ unchanged: 999, changed: 1 });
    expect(database.prepare("select count(*) from record where missed > 0").pluck().get()).toBe(0);
  });

  it("is looked at anew where the reading itself has changed it since", async () => {
    const { ledger } = await openLedger();
    await read(ledger, [a, b]);
    const hash = (row: Row): string => sha256(JSON.stringify(["erp", row]));
    const reading = await ledger.records.startRead("run-2", "erp", "customers");
    const first = await reading.markSeen([hash(a)]);
    expect([...first.unchanged]).toEqual([hash(a)]);
    const record = { place: "erp.csv:2", key: key("B"), customer: key("B"), raw: "{}" };
    await reading.ingest([{ record: { ...record, rawHash: sha256("another"), record: { id: "B", branch: "2" } } }]);
    const second = await reading.markSeen([hash(b)]);
    expect([...second.unchanged], "the form that it had when the reading began").toEqual([]);
    reading.end();
  });

  it(
    "is marked in pieces where a reading breaks off beside something in quarantine, so that others write too",
    { tags: "long" },
    async () => {
      const { ledger, path } = await openLedger();
      const rows = Array.from({ length: 4_500 }, (_, index) => ({ id: `R${index}` }));
      await read(ledger, [...rows, { id: "X", bad: "no name" }]);
      const reading = await ledger.records.startRead("run-2", "erp", "customers");
      const hashes = rows.map((row) => sha256(JSON.stringify(["erp", row])));
      await reading.markSeen(hashes);
      const order: string[] = [];
      await Promise.all([
        reading.finish({ complete: false, whole: true, rows: rows.length, bad: 0 }).then(() => order.push("read")),
        ledger.records.retry.mark("another", "anna").then(() => order.push("anna")),
      ]);
      expect(order).toEqual(["anna", "read"]);
      const marked = sqlite(path).prepare("select count(*) from record where last_read = ?").pluck().get(reading.read);
      expect(marked).toBe(rows.length);
    },
  );

  it("is looked at anew where another program has changed it since", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, b]);
    const hash = (row: Row): string => sha256(JSON.stringify(["erp", row]));
    const reading = await ledger.records.startRead("run-2", "erp", "customers");
    const first = await reading.markSeen([hash(a)]);
    expect([...first.unchanged]).toEqual([hash(a)]);
    sqlite(path).exec("update record set state = 'quarantined' where id = 'B'");
    const second = await reading.markSeen([hash(b)]);
    expect([...second.unchanged], "what was expected when the reading began").toEqual([]);
    reading.end();
  });

  it("comes back as it was after it was missed, was bad, was absent or had another form, and is taken up again", async () => {
    const { ledger, path } = await openLedger();
    const other = { id: "A", body: { branch: "2" } };
    const meanwhile: Record<string, { rows: Row[]; back: string }> = {
      missed: { rows: [b], back: "unchanged" },
      bad: { rows: [{ id: "A", bad: "no name" }, b], back: "changed" },
      "bad and nameless": { rows: [{ id: "?", bad: "no id", nameless: true }, b], back: "unchanged" },
      "in another form": { rows: [other, b], back: "changed" },
      "twice, once in another form": { rows: [a, other, b], back: "changed" },
      absent: { rows: [b], back: "changed" },
    };
    for (const [what, { rows, back }] of Object.entries(meanwhile)) {
      await read(ledger, [a, b]);
      await read(ledger, rows, { confirmations: what === "absent" ? 1 : 3 });
      const after = await read(ledger, [a, b]);
      expect(after, what).toMatchObject(back === "changed" ? { unchanged: 1 } : { unchanged: 2 });
      expect(stateOf(path, "A"), what).toMatchObject({ state: "current", missed: 0 });
      expect(openReasons(path), what).toEqual([]);
    }
  });

  it("says why a whole read could not be closed", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, b, { id: "C" }]);
    const database = sqlite(path);
    database.exec("create trigger broken before update of missed on record begin select raise(abort, 'broken'); end");
    await expect(read(ledger, [a, b])).rejects.toThrow("broken");
    database.exec("drop trigger broken");
    expect(await read(ledger, [a, b], { confirmations: 1 })).toMatchObject({ unchanged: 2, absent: 1 });
  });
});

describe("an id that stands twice in one read", () => {
  it.each(["in one batch", "beside one that is as it was"])(
    "is quarantined with the record, until one of the two goes (%s)",
    async (how) => {
      const { ledger, path } = await openLedger();
      const other = { ...a, body: { branch: "9" } };
      if (how !== "in one batch") await read(ledger, [a]);
      expect(await read(ledger, [a, other])).toMatchObject({ quarantined: 1 });
      expect(openReasons(path)).toEqual(["erp duplicate-id A"]);
      expect(stateOf(path, "A")).toMatchObject({ state: "quarantined" });
      await read(ledger, [a, other]);
      expect(stateOf(path, "A")).toMatchObject({ state: "quarantined" });
      await read(ledger, [a]);
      expect(openReasons(path)).toEqual([]);
      expect(stateOf(path, "A")).toMatchObject({ state: "current", pending: 1 });
    },
  );

  it.each([
    ["first", 0],
    ["second", 1],
  ])(
    "is good again once a whole read has it once, in its %s form, and by no read of changes before",
    async (_, which) => {
      const { ledger, path } = await openLedger();
      const forms = [a, { ...a, body: { branch: "9" } }];
      await read(ledger, forms);
      const [left = a] = forms.slice(which);
      await read(ledger, [left], { whole: false });
      expect(openReasons(path), "what the other row holds is not known").toEqual(["erp duplicate-id A"]);
      await read(ledger, [left]);
      expect(openReasons(path)).toEqual([]);
      expect(stateOf(path, "A")).toMatchObject({ state: "current", pending: 1 });
      const bodies = sqlite(path).prepare("select body from record_version where to_at is null").pluck().all();
      expect(JSON.parse(String(bodies[0]))).toMatchObject(left.body ?? {});
      await read(ledger, forms);
      expect(openReasons(path), "twice again").toEqual(["erp duplicate-id A"]);
    },
  );

  it("does no harm when both rows are the same", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, { ...a }]);
    expect(openReasons(path)).toEqual([]);
    expect(stateOf(path, "A")).toMatchObject({ state: "current", version: 1 });
  });
});

describe("a record that two sources claim", () => {
  it("is blocked for both, and released when the second source lets go", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a]);
    expect(await read(ledger, [a], { source: "portal" })).toMatchObject({ quarantined: 1 });
    expect(openReasons(path)).toEqual(["portal claimed-twice A"]);
    expect(stateOf(path, "A")).toMatchObject({ state: "quarantined", source: "erp" });
    expect(await read(ledger, [a])).toMatchObject({ quarantined: 1 });
    expect(await read(ledger, [a], { source: "portal" })).toMatchObject({ quarantined: 1, mapped: 0 });
    await read(ledger, [b], { source: "portal" });
    expect(openReasons(path)).toEqual([]);
    expect(stateOf(path, "A")).toMatchObject({ state: "current", pending: 1, source: "erp" });
  });

  it("goes over to the second source when the first lets go for good", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, b]);
    await read(ledger, [a], { source: "portal" });
    for (let reading = 0; reading < 3; reading += 1) await read(ledger, [b]);
    expect(stateOf(path, "A")).toMatchObject({ state: "absent" });
    expect(await read(ledger, [a], { source: "portal" })).toMatchObject({ changed: 1 });
    expect(openReasons(path)).toEqual([]);
    expect(stateOf(path, "A")).toMatchObject({ state: "current", source: "portal", pending: 1 });
  });

  it("stays blocked when somebody retries it while both have it", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a]);
    await read(ledger, [a], { source: "portal" });
    const id = sqlite(path).prepare<[], string>("select id from quarantine").pluck().get() ?? "";
    expect(await ledger.records.retry.mark(id, "tester")).toBe(true);
    expect(await read(ledger, [a], { source: "portal" })).toMatchObject({ quarantined: 1, mapped: 1 });
    expect(stateOf(path, "A")).toMatchObject({ state: "quarantined" });
  });
});

describe("a record that cannot be used", () => {
  const bad = { id: "A", bad: "the name is missing" };

  it("is quarantined alone, once, and blocks only its own record", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, b]);
    expect(await read(ledger, [bad, b])).toMatchObject({ quarantined: 1, unchanged: 1 });
    expect(await read(ledger, [bad, b])).toMatchObject({ quarantined: 1, unchanged: 1, mapped: 0 });
    expect(openReasons(path)).toEqual(["erp missing A"]);
    expect(stateOf(path, "A")).toMatchObject({ state: "quarantined", version: 1 });
    expect(stateOf(path, "B")).toMatchObject({ state: "current" });
  });

  it.each(["before", "after"])("blocks its usable form that stands %s it in the same batch", async (where) => {
    const { ledger, path } = await openLedger();
    await read(ledger, where === "before" ? [a, bad, b] : [bad, a, b]);
    expect(openReasons(path)).toEqual(["erp missing A"]);
    expect([stateOf(path, "A"), stateOf(path, "B")]).toMatchObject([{ state: "quarantined" }, { state: "current" }]);
  });

  it("is released by a usable form, and by its old form coming back", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a]);
    await read(ledger, [bad]);
    expect(await read(ledger, [a])).toMatchObject({ changed: 1 });
    expect(stateOf(path, "A")).toMatchObject({ state: "current", version: 1, pending: 1 });
    await read(ledger, [bad]);
    await read(ledger, [{ ...a, body: { branch: "2" } }]);
    expect(openReasons(path)).toEqual([]);
    expect(stateOf(path, "A")).toMatchObject({ state: "current", version: 2 });
  });

  it("never counts as gone while its bad form is there", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, b]);
    for (let reading = 0; reading < 6; reading += 1) expect(await read(ledger, [bad, b])).toMatchObject({ absent: 0 });
    expect(stateOf(path, "A")).toMatchObject({ state: "quarantined", missed: 0 });
  });

  it("takes nothing for gone while its id cannot be read: it may be any of those that are missing", async () => {
    const { ledger, path } = await openLedger();
    const nameless = { id: "?", bad: "no id", nameless: true };
    await read(ledger, [a, b]);
    for (let reading = 0; reading < 6; reading += 1)
      expect(await read(ledger, [b, nameless])).toMatchObject({ absent: 0 });
    expect(stateOf(path, "A")).toMatchObject({ state: "current", missed: 0 });
    for (let reading = 0; reading < 3; reading += 1) await read(ledger, [b]);
    expect(stateOf(path, "A")).toMatchObject({ state: "absent" });
  });

  it("belongs to the customer that its raw form names, or else to that of its last good form", async () => {
    const { ledger, path } = await openLedger();
    const person = { id: "P", customer: "C1" };
    const owners = (): unknown[] =>
      sqlite(path, { readonly: true })
        .prepare(
          "select record_id || ' ' || coalesce(customer_id, '-') from quarantine where state = 'open' order by 1",
        )
        .pluck()
        .all();
    await read(ledger, [person], { stream: "staff" });
    const stranger = { id: "Q", bad: "no name", customer: null };
    await read(ledger, [{ ...person, bad: "no name", customer: null }, stranger], { stream: "staff" });
    expect(owners()).toEqual(["P C1", "Q -"]);
    await read(ledger, [{ ...person, bad: "no name", customer: "C2" }, stranger], { stream: "staff" });
    expect(owners()).toEqual(["P C2", "Q -"]);
  });

  it("is not put over a newer form, when its id can be read by now and somebody asks for it", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [b, { id: "?", bad: "no id", nameless: true }]);
    const id = sqlite(path).prepare<[], string>("select id from quarantine").pluck().get() ?? "";
    const newer = { ...a, body: { branch: "2" } };
    await read(ledger, [newer], { whole: false });
    const record = { rawHash: "old", place: "erp.csv:1", raw: "{}", key: key("A"), customer: key("A") };
    await ledger.records.retry.settle(id, { record: { ...record, record: { id: "A", branch: "1" } } }, "anna");
    expect(stateOf(path, "A")).toMatchObject({ version: 1, state: "current" });
    expect(openReasons(path)).toEqual([]);
    expect(await read(ledger, [newer], { whole: false })).toMatchObject({ unchanged: 1, mapped: 0 });
  });

  it("is not put over a newer form, when its id can be read by now and somebody asks for it, also where it was as before", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, { id: "?", bad: "no id", nameless: true }]);
    const id = sqlite(path).prepare<[], string>("select id from quarantine").pluck().get() ?? "";
    expect(await read(ledger, [a], { whole: false })).toMatchObject({ unchanged: 1 });
    const record = { rawHash: "old", place: "erp.csv:1", raw: "{}", key: key("A"), customer: key("A") };
    await ledger.records.retry.settle(id, { record: { ...record, record: { id: "A", branch: "0" } } }, "anna");
    expect(stateOf(path, "A")).toMatchObject({ version: 1, state: "current", pending: 1 });
    expect(openReasons(path)).toEqual([]);
  });

  it("is mapped again when somebody asks for it", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [bad]);
    const id = sqlite(path).prepare<[], string>("select id from quarantine").pluck().get() ?? "";
    expect(await read(ledger, [bad])).toMatchObject({ mapped: 0 });
    expect(await ledger.records.retry.mark(id, "tester")).toBe(true);
    expect(await ledger.records.retry.mark(id, "tester")).toBe(false);
    expect(await read(ledger, [bad])).toMatchObject({ mapped: 1, quarantined: 1 });
    expect(openReasons(path)).toEqual(["erp missing A"]);
  });
});

describe("a record that is missing", () => {
  it("is gone only after three whole, complete reads without it, and comes back when it is there again", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, b]);
    expect(await read(ledger, [b])).toMatchObject({ absent: 0 });
    expect(await read(ledger, [b])).toMatchObject({ absent: 0 });
    expect(stateOf(path, "A")).toMatchObject({ state: "current", missed: 2 });
    expect(await read(ledger, [b])).toMatchObject({ absent: 1 });
    expect(stateOf(path, "A")).toMatchObject({ state: "absent", pending: 1 });
    expect(await read(ledger, [a, b])).toMatchObject({ changed: 1 });
    expect(stateOf(path, "A")).toMatchObject({ state: "current", missed: 0, version: 1 });
  });

  it("begins to be missed anew when it was there in between", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, b]);
    await read(ledger, [b]);
    await read(ledger, [b]);
    await read(ledger, [a, b]);
    await read(ledger, [b]);
    expect(stateOf(path, "A")).toMatchObject({ state: "current", missed: 1 });
  });

  it("is not missed by reads that are not whole, nor by other sources and streams", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [a, b]);
    for (let reading = 0; reading < 4; reading += 1) {
      await read(ledger, [b], { whole: false });
      await read(ledger, [{ id: "C" }], { source: "portal" });
      await read(ledger, [{ id: "D" }], { stream: "orders" });
    }
    expect(stateOf(path, "A")).toMatchObject({ state: "current", missed: 0 });
  });
});

describe("what a customer waits for", () => {
  it("stays where what people asked for of it was refused meanwhile, and it is looked at again", async () => {
    const { ledger, path } = await openLedger();
    await read(ledger, [{ id: "1" }, { id: "2" }]);
    const outcome = (id: string, code: string) =>
      ({ stream: "customers", key: key(id), outcome: "rejected", code, reason: "refused" }) as const;
    await ledger.records.setOutcomes("run-1", [outcome("1", "rejected.13004")]);
    await ledger.records.setOutcomes("run-1", [{ stream: "customers", key: key("2"), outcome: "planned" }]);
    for (const id of ["1", "2"])
      await ledger.records.setLesserOutcome("run-2", outcome(id, "request.refused"), "request.");
    expect(rowsOf(path, "select id, deferred_code, pending from record order by id")).toEqual([
      { id: "1", deferred_code: "rejected.13004", pending: 1 },
      { id: "2", deferred_code: "request.refused", pending: 0 },
    ]);
  });
});
