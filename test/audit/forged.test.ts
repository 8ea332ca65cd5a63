import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { lastEntryOf, storedRoots } from "../../src/ledger/audit/audit-log.ts";
import type { AuditRow } from "../../src/ledger/audit/audit-log.ts";
import { treeEndingWith } from "../../src/ledger/audit/kept-tree.ts";
import { Frontier } from "../../src/ledger/audit/merkle-log.ts";
import { RecordTree } from "../../src/ledger/audit/record-tree.ts";
import { exportOf, lived, verifierAlone } from "../support/audit-record.ts";
import type { World } from "../support/cli.ts";
import { HandTime, openLedger, sqlite } from "../support/world/start.ts";

/** What the stand-alone verifier and `audit verify` say of the same heads. */
async function both(w: World, path: string, heads: string): Promise<unknown[]> {
  const own = await w.run("audit", "verify", "--heads", heads);
  return [own.exitCode, verifierAlone()(path, "--heads", heads).code];
}

describe("heads that are given and say nothing", () => {
  it("are no heads: an empty file, one of something else, and one that was spoiled", { tags: "long" }, async () => {
    const w = await lived();
    const path = await exportOf(w);
    const good = readFileSync(w.path("ledger.db.heads"), "utf8");
    for (const [what, text] of [
      ["nothing", ""],
      ["something else", "# Heads\n\nsee there\n"],
      ["a number that is a text", '{"commit":1,"sequence":"5","hash":"","at":"2026-10-01T08:00:00.000Z"}\n'],
      ["a line that was spoiled", good.replace('"sequence"', '"Sequence"')],
      ["null", "null\n"],
    ] as const) {
      writeFileSync(w.path("odd.heads"), text);
      expect(await both(w, path, w.path("odd.heads")), what).toEqual([64, 2]);
    }
  });

  it("are read to the last of them: each of several in one file counts", { tags: "long" }, async () => {
    const w = await lived();
    w.extra = "audit: { signKey: env:AUDIT_KEY }\n";
    w.environment["AUDIT_KEY"] =
      "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----";
    w.write();
    const first = (await w.run("audit", "head")).stdout;
    const kept = readFileSync(w.path("ledger.db"));
    const short = readFileSync(await exportOf(w), "utf8");
    const before = readFileSync(w.path("ledger.db.heads"));
    await w.run("run", "everything");
    writeFileSync(w.path("kept.txt"), `${first}\n${(await w.run("audit", "head")).stdout}`);
    const path = await exportOf(w);
    expect(await both(w, path, w.path("kept.txt"))).toEqual([0, 0]);
    // The end of it is cut off, in the ledger and beside it.
    for (const suffix of ["-wal", "-shm"]) writeFileSync(w.path(`ledger.db${suffix}`), "");
    writeFileSync(w.path("ledger.db"), kept);
    writeFileSync(w.path("ledger.db.heads"), before);
    writeFileSync(w.path("short.ndjson"), short);
    expect(await both(w, w.path("short.ndjson"), w.path("kept.txt"))).toEqual([65, 1]);
    writeFileSync(w.path("windows.txt"), readFileSync(w.path("kept.txt"), "utf8").replaceAll("\n", "\r\n"));
    expect(await both(w, w.path("short.ndjson"), w.path("windows.txt"))).toEqual([65, 1]);
    // Whoever may not have the key is told that nobody looked at the signatures.
    delete w.environment["AUDIT_KEY"];
    writeFileSync(w.path("first.txt"), first);
    const unchecked = await w.run("audit", "verify", "--heads", w.path("first.txt"));
    expect([unchecked.exitCode, unchecked.stdout]).toEqual([0, expect.stringMatching(/^signatures +not checked/mu)]);
    expect(verifierAlone()(path, "--heads", w.path("first.txt")).said).toContain("signatures: not checked");
    const unsigned = await w.run("audit", "head");
    expect([unsigned.exitCode, unsigned.stderr]).toEqual([0, expect.stringContaining("not signed: ")]);
  });
});

describe("a proof that somebody made fit", () => {
  it("is not believed for another place, another size, or beside what it proves", { tags: "long" }, async () => {
    const w = await lived();
    const verify = verifierAlone();
    const path = w.path("proof.json");
    const order = w.orders[0]?.id ?? "";
    const heads = w.path("ledger.db.heads");
    await w.run("audit", "prove", "--order", order, "--since", "4", "--out", path);
    const text = readFileSync(path, "utf8");
    const whole = JSON.parse(text);
    expect(verify(path, "--heads", heads).code).toBe(0);
    const [entry] = whole.entries;
    const changed: [string, number, unknown][] = [
      ["a size that is a text", 1, { ...whole, tree: { ...whole.tree, size: `${whole.tree.size}` } }],
      ["another size", 2, { ...whole, tree: { ...whole.tree, size: whole.tree.size + 1 } }],
      ["another earlier entry", 1, { ...whole, since: { ...whole.since, sequence: "4" } }],
      ["an entry twice", 1, { ...whole, entries: [entry, entry] }],
      ["another place", 1, { ...whole, entries: [{ ...entry, leaf: entry.leaf - 1 }] }],
      [
        "a chain before it",
        1,
        { ...whole, tree: { ...whole.tree, chain: { entries: 1, hash: entry.hash, path: [] } } },
      ],
      ["something beside", 1, { ...whole, more: true }],
      ["no salt", 1, { ...whole, entries: [{ ...entry, salt: undefined }] }],
      ["nothing", 2, { ...whole, entries: [] }],
    ];
    for (const [what, code, proof] of changed) {
      writeFileSync(path, `${JSON.stringify(proof, undefined, 2)}\n`);
      expect(verify(path, "--heads", heads), what).toMatchObject({ code });
    }
    writeFileSync(path, text.replace('"about"', '"about": "order:crm/other",\n  "about"'));
    expect(verify(path), "two of one name").toMatchObject({ code: 1, said: expect.stringContaining("line-broken") });
    // Heads of which none is of this tree prove nothing.
    const [first] = readFileSync(heads, "utf8").split("\n").filter(Boolean);
    writeFileSync(path, text);
    writeFileSync(w.path("early.heads"), `${first}\n`);
    expect(verify(path, "--heads", w.path("early.heads"))).toMatchObject({ code: 2 });
  });
});

describe("an export that somebody made fit", () => {
  it(
    "holds nothing that is not proven, and the first entry that is wrong is named, by a head too",
    { tags: "long" },
    async () => {
      const w = await lived();
      const verify = verifierAlone();
      const path = await exportOf(w);
      const text = readFileSync(path, "utf8");
      const heads = w.path("ledger.db.heads");
      for (const [what, changed] of [
        ["two of one name", text.replace(',"body":', ',"body":"LIE","body":')],
        ["something beside", text.replace('{"format"', '{"paid":true,"format"')],
        ["something beside the tree", text.replace('{"end":{', '{"checkpoint":{"entries":1},"end":{')],
        ["a body that is no text", text.replace(/"body":"(?:[^"\\]|\\.)*"/u, '"body":{}')],
        ["null", text.replace('{"format"', 'null\n{"format"')],
      ] as const) {
        expect(changed, what).not.toBe(text);
        writeFileSync(path, changed);
        expect(verify(path), what).toMatchObject({
          code: 1,
          said: expect.stringMatching(/^BAD (?:line-broken|tree-)/u),
        });
      }
      const spoiled = readFileSync(heads, "utf8").replaceAll(/(?<="sequence":3,"hash":")./gu, (digit) =>
        digit === "a" ? "b" : "a",
      );
      writeFileSync(heads, spoiled);
      writeFileSync(path, text.replace(/(?<="sequence":6.*"subject":")/u, "x"));
      expect(verify(path, "--heads", heads).said).toMatch(/^BAD [\w-]+: entry 3 /u);
    },
  );
});

describe("a database that somebody can write to", () => {
  const drop = ["audit_appends_only", "audit_refuses_older", "audit_tree_only_grows", "audit_tile_refuses_update"]
    .map((name) => `drop trigger ${name};`)
    .join("");
  const record =
    "insert into audit select 9007199254740993, format, '2099-01-01T00:00:00.000Z', 'paid', subject, body, hash, hash, salt from audit where sequence = 1";

  it.each([
    [
      "a guard that does nothing",
      "drop trigger audit_refuses_delete; create trigger audit_refuses_delete before delete on audit begin select 1; end",
      "guard-missing",
    ],
    ["an entry far away", `drop trigger audit_appends_only; ${record}`, "entry-missing"],
    ["the row of the tree gone", "drop trigger audit_tree_refuses_delete; delete from audit_tree", "guard-missing"],
    ["another size of the tree", `${drop} update audit_tree set size = size + 1`, "guard-missing"],
  ])("is found out: %s", { tags: "long" }, async (_, sql, code) => {
    const w = await lived();
    w.tamper(sql);
    const found = await w.run("audit", "verify");
    expect([found.exitCode, found.stdout + found.stderr]).toEqual([65, expect.stringContaining(`(${code})`)]);
  });

  it("writes nothing more where the tree is gone, and shows no head that is not of it", { tags: "long" }, async () => {
    const w = await lived();
    w.tamper("drop trigger audit_tree_refuses_delete; delete from audit_tree");
    expect((await w.run("run", "everything")).exitCode).toBe(65);
    const other = await lived();
    other.tamper(`${drop} update audit_tree set size = size + 1`);
    for (const words of [
      ["audit", "head"],
      ["audit", "prove", "--order", other.orders[0]?.id ?? ""],
    ])
      expect((await other.run(...words)).exitCode, words.join(" ")).toBe(65);
  });

  it("is stale where the last entry says that it is still to come", { tags: "long" }, async () => {
    const time = new HandTime();
    time.at = Date.parse("2999-01-01T00:00:00.120Z");
    const { ledger, path } = await openLedger({ time });
    await ledger.audit.append({ kind: "k", subject: "s", body: {} });
    ledger.close();
    const w = await lived();
    writeFileSync(w.path("ledger.db"), readFileSync(path));
    for (const suffix of ["-wal", "-shm"]) writeFileSync(w.path(`ledger.db${suffix}`), "");
    writeFileSync(w.path("ledger.db.heads"), readFileSync(`${path}.heads`));
    expect((await w.run("audit", "verify")).stdout).toMatch(/^freshness +STALE/mu);
    const { at } = JSON.parse((await w.run("audit", "head", "--json")).stdout) as { at: string };
    const local = new Date(Date.parse(at) + 330 * 60_000).toISOString();
    w.environment["CRM_SYNC__zone"] = "Asia/Kolkata";
    const said = (await w.run("audit", "verify")).stdout;
    expect(said).toContain(`is of ${local.slice(0, 10)} ${local.slice(11, 19)} +05:30, which is still to come`);
    expect((await w.run("audit", "verify", "--json")).stdout).toContain(`is of ${at}, which`);
    const shown = /^at (\S+\+05:30)$/mu.exec((await w.run("audit", "head")).stdout)?.[1] ?? "";
    expect(Date.parse(shown), "one word, and the same moment").toBe(Date.parse(at));
  });
});

describe("a ledger from before the tree", () => {
  /** A ledger of an earlier version, as it was kept. */
  async function migrated(): Promise<string> {
    const kept = join(import.meta.dirname, "../ledger/earlier");
    const { ledger, path } = await openLedger();
    ledger.close();
    for (const suffix of ["-wal", "-shm"]) writeFileSync(`${path}${suffix}`, "");
    writeFileSync(path, gunzipSync(readFileSync(join(kept, "ledger.db.gz"))));
    writeFileSync(`${path}.heads`, readFileSync(join(kept, "heads.ndjson")));
    return path;
  }

  it(
    "stays whole where something is written before the first entry of the tree, and after it",
    { tags: "long" },
    async () => {
      const path = await migrated();
      const { ledger } = await openLedger({ path });
      await ledger.schedule.standAlerts([{ key: "k", body: {} }]);
      expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 33 });
      await ledger.audit.append({ kind: "k", subject: "s", body: {} });
      await ledger.schedule.standAlerts([{ key: "k", body: { more: 1 } }]);
      expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 34 });
      for (let more = 0; more < 600; more += 1) await ledger.audit.append({ kind: "k", subject: "s", body: { more } });
      expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 634 });
    },
  );

  it(
    "has the tree that it had with each entry, as of the chain before it and of every size after it",
    { tags: "long" },
    async () => {
      const path = await migrated();
      const { ledger } = await openLedger({ path });
      for (let more = 0; more < 600; more += 1) await ledger.audit.append({ kind: "k", subject: "s", body: { more } });
      const database = sqlite(path);
      const tree = new RecordTree();
      for (const entry of database.prepare<[], AuditRow>("select * from audit order by sequence").all()) {
        tree.take(entry);
        if (entry.sequence > 40 && entry.sequence % 37 > 0 && entry.sequence < 630) continue;
        const { size, root } = tree.checkpoint();
        const row = treeEndingWith(database, entry.sequence);
        expect(row.size, `entry ${entry.sequence}`).toBe(size);
        expect(new Frontier({ size: row.size, roots: storedRoots(row) }).root(), `entry ${entry.sequence}`).toBe(root);
        expect(lastEntryOf(row, row.size)).toBe(entry.sequence);
      }
      expect(tree.checkpoint().entries).toBe(633);
      expect(() => treeEndingWith(database, 0)).toThrow(/cannot be read/u);
    },
  );

  it("takes no entry of the form before from a program that is still open", async () => {
    const path = await migrated();
    const { ledger } = await openLedger({ path });
    const old =
      "insert into audit (sequence, format, at, kind, subject, body, previous, hash) select sequence + 1, 1, at, kind, subject, body, hash, hash from audit order by sequence desc limit 1";
    expect(() => sqlite(path).exec(old)).toThrow(/are written no more/u);
    expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 33 });
  });
});

it("the verifier that stands alone says how it is called", { tags: "long" }, () => {
  const verify = verifierAlone();
  const said = expect.stringMatching(/^usage: node verify\.mjs FILE [^]*--key [^]*--heads [^]*Ends with 0 /u);
  expect(verify("--help")).toEqual({ code: 0, said });
  expect(verify("a.ndjson", "--help")).toEqual({ code: 0, said });
  expect(verify()).toEqual({ code: 2, said });
  expect(verify("a.ndjson", "--other")).toEqual({ code: 2, said: expect.stringContaining("usage: node verify.mjs") });
});
