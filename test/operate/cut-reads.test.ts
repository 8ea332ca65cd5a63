import { describe, expect, it } from "vitest";
import { ReadingWorld, type Cut } from "../support/world/reading-world.ts";

const hour = 3_600_000;

describe("a reading that was cut", () => {
  it.each<Cut>(["down", "killed", "stopped"])("goes on where it was (%s)", async (how) => {
    const w = await ReadingWorld.open(10);
    w.add(100);
    for (const after of [3, 2, 4]) {
      w.cut = { how, after };
      const tally = await w.read();
      expect(tally?.complete ?? false).toBe(false);
    }
    expect(w.checkpoint()).toMatchObject({ rows: 90 });
    const tally = await w.read();
    expect(w.asked.map(({ offset }) => offset)).toEqual([90, 100]);
    expect(tally).toMatchObject({ complete: true, extracted: 10 });
    expect(w.lastRead()).toMatchObject({ complete: 1, whole: 1, rows: 100, continues: 1 });
    expect(w.desired()).toEqual(w.listed());
    expect(w.checkpoint()).toBeUndefined();
    await w.read();
    expect(w.asked[0]).toMatchObject({ after: "", offset: 0 });
  });

  it.each<[Cut, string]>([
    ["down", "C0031"],
    // What was changed is not taken in before the reading has ended: the process that had it is gone.
    ["killed", ""],
  ])(
    "knows what its first part has met, changed or not: that is not missed, and what is gone is (%s)",
    async (how, after) => {
      const w = await ReadingWorld.open(10);
      w.add(60);
      await w.read();
      w.rows.delete("C0005");
      w.rows.delete("C0055");
      w.rows.set("C0003", { branch: "changed", office: "", changed: 0 });
      w.cut = { how, after: 3 };
      await w.read();
      const tally = await w.read();
      expect(w.asked[0]).toMatchObject({ after });
      expect(tally).toMatchObject({ complete: true, absent: 2 });
      expect(w.desired()).toEqual(w.listed());
    },
  );

  it("takes a record that was changed meanwhile and comes again as its newer form, not as a second one", async () => {
    const w = await ReadingWorld.open(10);
    w.by = "place";
    w.add(30);
    w.cut = { how: "down", after: 2 };
    await w.read();
    // One that is new at the top pushes the last one of the second page to the third, changed.
    w.rows.set("C0000", { branch: "new", office: "", changed: 0 });
    w.rows.set("C0020", { branch: "changed", office: "", changed: 0 });
    expect(await w.read()).toMatchObject({ quarantined: 0 });
    expect(w.desired().get("C0020")).toBe("changed");
  });

  it("of a list that may have moved is not believed to be whole, and the next run reads everything", async () => {
    const w = await ReadingWorld.open(10);
    w.fullReadEveryMs = 24 * hour;
    w.by = "place";
    w.add(40);
    await w.read();
    w.time.at += 25 * hour;
    w.cut = { how: "down", after: 2 };
    await w.read();
    // Everything behind it moves up by one: the first of the third page is on the second one now, and is not met.
    w.rows.delete("C0001");
    w.rows.set("C0021", { branch: "changed", office: "", changed: w.serviceTime });
    const tally = await w.read();
    expect(w.asked[0]).toMatchObject({ offset: 20 });
    expect(tally).toMatchObject({ complete: false, absent: 0, problem: { code: "source.read-in-parts" } });
    expect(tally?.problem?.message).toMatch(/an earlier read was cut off after 20 rows.*no record counts as missing/u);
    expect(tally?.problem?.cure).toMatch(/^nothing: the next run reads the whole list.*keyset/u);
    expect(w.lastRead()).toMatchObject({ complete: 0, whole: 0, cursor: null });
    expect(w.desired().get("C0021")).toBe("B21");
    await w.read();
    expect(w.asked[0]).toMatchObject({ offset: 0, since: undefined });
    expect(w.desired()).toEqual(w.listed());
  });

  it.each<[string, (w: ReadingWorld) => void]>([
    ["its mapping changed", (w) => (w.branch = "office")],
    ["its settings changed", (w) => (w.query = "active=true")],
    ["it began too long ago", (w) => (w.time.at += 25 * hour)],
    ["the clock was set back before it began", (w) => (w.time.at -= 25 * hour)],
    ["its reader cannot go on any more", (w) => (w.by = "none")],
  ])("begins anew when %s", async (_why, change) => {
    const w = await ReadingWorld.open(10);
    w.add(50);
    w.cut = { how: "killed", after: 3 };
    await w.read();
    expect(w.checkpoint()).toMatchObject({ rows: 30 });
    change(w);
    const tally = await w.read();
    expect(w.asked[0]).toMatchObject({ after: "", offset: 0 });
    expect(tally).toMatchObject({ complete: true, extracted: 50 });
    expect(w.lastRead()).toMatchObject({ whole: 1, rows: 50, continues: null });
    expect(w.desired()).toEqual(w.listed());
    expect(w.checkpoint()).toBeUndefined();
  });

  it("is neither used nor forgotten nor kept by a plan, and a person who asks for a source has it read from its start", async () => {
    const w = await ReadingWorld.open(10);
    w.add(50);
    w.cut = { how: "down", after: 2 };
    await w.read({ isPlan: true });
    expect(w.checkpoint()).toBeUndefined();
    w.cut = { how: "down", after: 3 };
    await w.read();
    const kept = w.checkpoint();
    w.cut = { how: "down", after: 1 };
    await w.read({ isPlan: true });
    await w.read({ isPlan: true });
    expect(w.asked[0]).toMatchObject({ offset: 0 });
    expect(w.checkpoint()).toEqual(kept);
    await w.read();
    expect(w.asked[0]).toMatchObject({ offset: 30 });
    w.cut = { how: "down", after: 3 };
    await w.read();
    await w.read({ scope: { source: "crm" } });
    expect(w.asked[0]).toMatchObject({ offset: 0 });
    expect(w.checkpoint()).toBeUndefined();
  });

  it("counts all of its parts where it is judged whether the source shrank", async () => {
    const w = await ReadingWorld.open(10);
    w.sourceShrink = 0.5;
    w.add(50);
    await w.read();
    w.cut = { how: "down", after: 4 };
    await w.read();
    expect(await w.read()).toMatchObject({ complete: true, doubt: undefined, absent: 0 });
    w.cut = { how: "down", after: 1 };
    await w.read();
    for (const id of w.rows.keys()) if (id > "C0004") w.rows.delete(id);
    const tally = await w.read();
    expect(tally?.doubt?.message).toMatch(/lost 40 of 50 records/u);
    expect(w.desired().size).toBe(50);
    expect(w.checkpoint()).toBeUndefined();
  });

  it("begins anew where it came no further for another reason than a source that is down", async () => {
    const w = await ReadingWorld.open(10);
    w.add(30);
    w.cut = { how: "down", after: 1 };
    await w.read();
    w.cut = { how: "down", after: 0 };
    await w.read();
    expect(w.checkpoint()).toMatchObject({ rows: 10 });
    w.failsWith = "source.refused";
    await w.read();
    expect(w.checkpoint()).toBeUndefined();
  });
});

describe("everything is read", () => {
  it.each<[string, (w: ReadingWorld) => void]>([
    ["the mapping changed", (w) => (w.branch = "office")],
    ["a setting of the stream changed", (w) => (w.query = "active=true")],
    ["no run did for the time that the source says", (w) => (w.time.at += 24 * hour)],
    ["our clock was set back behind the last time", (w) => (w.time.at -= hour)],
    ["nobody knows what the last reading asked for", (w) => w.change("update source_read set question = null")],
  ])("when %s, by the next run", async (_why, change) => {
    const w = await ReadingWorld.open(10);
    w.fullReadEveryMs = 24 * hour;
    w.add(20);
    await w.read();
    await w.read();
    expect(w.asked[0]?.since).toBeDefined();
    change(w);
    await w.read();
    expect(w.asked[0]?.since).toBeUndefined();
    expect(w.desired()).toEqual(w.listed());
    await w.read();
    expect(w.asked[0]?.since).toBeDefined();
  });

  it.each<[string, (w: ReadingWorld) => Promise<unknown>]>([
    ["a reading that was cut", (w) => w.read()],
    ["a plan", (w) => w.read({ isPlan: true })],
  ])("where %s used other settings meanwhile, which are as they were by now", async (_who, work) => {
    const w = await ReadingWorld.open(10);
    w.fullReadEveryMs = 24 * hour;
    w.add(40);
    await w.read();
    w.branch = "office";
    w.cut = { how: "down", after: 2 };
    await work(w);
    w.cut = undefined;
    expect(w.desired().get("C0001")).toBe("O1");
    w.branch = "branch";
    await w.read();
    expect(w.asked[0]).toMatchObject({ since: undefined, offset: 0 });
    expect(w.desired()).toEqual(w.listed());
  });

  it("by a run also where only a plan has read everything with the settings of now", async () => {
    const w = await ReadingWorld.open(10);
    w.fullReadEveryMs = 24 * hour;
    w.add(20);
    await w.read();
    w.query = "active=true";
    await w.read({ isPlan: true });
    expect(w.asked[0]?.since).toBeUndefined();
    await w.read();
    expect(w.asked[0]?.since).toBeUndefined();
  });

  it("where a person asks for a source, and changes alone where that is by a time", async () => {
    const w = await ReadingWorld.open(10);
    w.fullReadEveryMs = 24 * hour;
    w.add(20);
    await w.read();
    await w.read({ scope: { source: "crm", since: "2020-01-01T00:00:00.000Z" } });
    expect(w.asked[0]?.since).toBe("2020-01-01T00:00:00.000Z");
    await w.read({ scope: { source: "crm" } });
    expect(w.asked[0]?.since).toBeUndefined();
  });
});

describe("stored raw forms", () => {
  it("of missing records that were erased, or are not known to be what came last, stay as they were mapped", async () => {
    const w = await ReadingWorld.open(10);
    w.absence = { reads: 5, ms: 0 };
    w.add(20);
    await w.read();
    w.change(
      `update private_value set body = null where ref = 'raw:customers/crm/C0001';
       update private_value set body = replace(body, 'O2', 'O7') where ref = 'raw:customers/crm/C0002'`,
    );
    for (const id of ["C0001", "C0002", "C0003"]) w.rows.delete(id);
    w.branch = "office";
    await w.read();
    expect(["C0001", "C0002", "C0003"].map((id) => w.desired().get(id))).toEqual(["B1", "B2", "O3"]);
  });

  it("of records that a whole reading lacks, and that are not gone yet, are mapped as everything else is", async () => {
    const w = await ReadingWorld.open(10);
    w.absence = { reads: 5, ms: 0 };
    w.add(20);
    await w.read();
    w.rows.delete("C0007");
    w.branch = "office";
    await w.read();
    expect(w.desired().get("C0007")).toBe("O7");
    expect(w.kept("select id, missed from record where missed > 0")).toEqual([{ id: "C0007", missed: 1 }]);
  });

  it("of a record that is missing and that the mapping of now refuses waits in one row from whole read to whole read", async () => {
    const w = await ReadingWorld.open(10);
    w.absence = { reads: 6, ms: 0 };
    w.add(20);
    await w.read();
    const missing = w.rows.get("C0007");
    if (missing === undefined) throw new Error("C0007 is not there");
    missing.office = "";
    await w.read();
    w.rows.delete("C0007");
    w.branch = "office";
    await w.read();
    const waiting = (): unknown[] =>
      w.kept("select id, record_id, first_seen from quarantine where state <> 'resolved' order by id");
    const first = waiting();
    expect(first).toMatchObject([{ record_id: "C0007" }]);
    w.time.at += hour;
    await w.read();
    await w.read({ isPlan: true });
    await w.read();
    expect(waiting()).toEqual(first);
    expect(w.kept("select state, missed from record where id = 'C0007'")).toEqual([
      { state: "quarantined", missed: 3 },
    ]);

    // The mapping is corrected: the record stands as it maps now, and nobody waits for anything.
    w.branch = "branch";
    await w.read();
    expect(waiting()).toEqual([]);
    expect(w.kept("select state, missed from record where id = 'C0007'")).toEqual([{ state: "current", missed: 4 }]);

    // It is refused again, until it is gone for good or comes back.
    w.branch = "office";
    await w.read();
    expect(waiting()).toMatchObject([{ record_id: "C0007" }]);
    await w.read();
    expect(w.kept("select state from record where id = 'C0007'")).toEqual([{ state: "absent" }]);
    expect(waiting()).toEqual([]);
  });

  it("that came back while it was refused is good once more, and a bad form that came itself waits no longer than it is there", async () => {
    const w = await ReadingWorld.open(10);
    w.absence = { reads: 9, ms: 0 };
    w.add(20);
    const seven = w.rows.get("C0007");
    if (seven === undefined) throw new Error("C0007 is not there");
    seven.office = "";
    await w.read();
    w.rows.delete("C0007");
    w.branch = "office";
    await w.read();
    expect(w.kept("select record_id from quarantine where state <> 'resolved'")).toEqual([{ record_id: "C0007" }]);
    // The very form that was refused comes: it is bad in the source now.
    w.rows.set("C0007", seven);
    await w.read();
    expect(w.kept("select record_id from quarantine where state <> 'resolved'")).toEqual([{ record_id: "C0007" }]);
    expect(w.kept("select state, missed from record where id = 'C0007'")).toEqual([
      { state: "quarantined", missed: 0 },
    ]);
    w.rows.set("C0007", { ...seven, office: "O7" });
    await w.read();
    expect(w.kept("select id from quarantine where state <> 'resolved'")).toEqual([]);
    expect(w.desired()).toEqual(w.listed());
  });
});
