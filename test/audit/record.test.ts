import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { systemRandomness } from "../../src/base/ids.ts";
import { auditExport } from "../../src/inquiry/audit.ts";
import { ReadOnlyLedger } from "../../src/inquiry/read-only-ledger.ts";
import { openReadOnly } from "../../src/ledger/database/database.ts";
import { AuditLog, auditHash, auditText, chainLeaf, exportedEntry } from "../../src/ledger/audit/audit-log.ts";
import { readNotes, signedNote, verifierKey } from "../../src/ledger/audit/checkpoint.ts";
import { consistencyPath, Frontier, inclusionPath } from "../../src/ledger/audit/merkle-log.ts";
import { RecordTree } from "../../src/ledger/audit/record-tree.ts";
import { auditPages, byPython, exportOf, hasPython, lived, verifierAlone } from "../support/audit-record.ts";
import { documents } from "../support/cli.ts";
import { folder, openLedger, sqlite } from "../support/world/start.ts";

/** A digit that is another one. */
const another = (digit: string): string => (digit === "a" ? "b" : "a");

const entry = z.strictObject({
  format: z.int(),
  sequence: z.int(),
  at: z.string(),
  kind: z.string(),
  subject: z.string(),
  body: z.string(),
  previous: z.string(),
  salt: z.string().default(""),
  hash: z.string(),
  text: z.string(),
});
const vectors = z
  .strictObject({
    tree: z.strictObject({
      entries: z.array(entry),
      roots: z.array(z.string()),
      inclusion: z.array(z.strictObject({ leaf: z.int(), size: z.int(), path: z.array(z.string()) })),
      consistency: z.array(z.strictObject({ before: z.int(), size: z.int(), path: z.array(z.string()) })),
    }),
    chainFirst: z.strictObject({
      entries: z.array(entry),
      chainText: z.string(),
      chainLeaf: z.string(),
      roots: z.array(z.string()),
    }),
    checkpoint: z.strictObject({ seed: z.string(), key: z.string(), note: z.string() }),
  })
  .parse(JSON.parse(readFileSync(join(auditPages, "vectors.json"), "utf8")));

type Entry = z.infer<typeof entry>;

/** An export that somebody wrote by the page alone. */
function exported(entries: readonly Entry[], end: { size: number; root: string }): string {
  const lines = [
    { export: "crm-sync audit record 2", entries: entries.length },
    ...entries.map(exportedEntry),
    { end: { entries: entries.length, ...end } },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

describe("the test vectors of the audit record", () => {
  const { tree, chainFirst } = vectors;

  it("are what the program makes of the same entries", () => {
    for (const one of [...tree.entries, ...chainFirst.entries])
      expect([auditText(one), auditHash(one)]).toEqual([one.text, one.hash]);
    const growing = new RecordTree();
    const roots = [growing.leaves.root()];
    for (const one of tree.entries) {
      growing.take(one);
      roots.push(growing.leaves.root());
    }
    expect(roots).toEqual(tree.roots);
    const leaves = tree.entries.map(({ hash }) => hash);
    const rootOf = (from: number, to: number): string => {
      const part = new Frontier();
      for (const leaf of leaves.slice(from, to)) part.append(leaf);
      return part.root();
    };
    for (const { leaf, size, path } of tree.inclusion) expect(inclusionPath(leaf, size, rootOf)).toEqual(path);
    for (const { before, size, path } of tree.consistency) expect(consistencyPath(before, size, rootOf)).toEqual(path);
    const chained = new RecordTree();
    const after = chainFirst.entries.map((one) => {
      chained.take(one);
      return chained.leaves.root();
    });
    const chain = chainFirst.entries[2];
    expect(chainLeaf({ entries: 3, hash: chain?.hash ?? "" })).toBe(chainFirst.chainLeaf);
    expect(after.slice(2)).toEqual(chainFirst.roots);
  });

  it("are good to both verifiers, and bad where anything of them is another", { tags: "long" }, () => {
    const verify = verifierAlone();
    const place = folder();
    for (const [name, { entries, roots }, size] of [
      ["tree", tree, 5],
      ["chain-first", chainFirst, 3],
    ] as const) {
      const path = join(place, `${name}.ndjson`);
      const whole = exported(entries, { size, root: roots.at(-1) ?? "" });
      writeFileSync(path, whole);
      expect(verify(path), name).toMatchObject({ code: 0, said: expect.stringContaining(`root ${roots.at(-1)}`) });
      if (hasPython) expect(byPython(path)).toEqual({ code: 0, said: "good\n" });
      for (const [what, other] of [
        ["a changed body", whole.replace('\\"state\\"', '\\"State\\"')],
        ["a line less", whole.replace(/(?<=\n)[^\n]*"sequence":2,[^\n]*\n/u, "")],
        ["the end cut off", whole.replace(/(?<=\n)[^\n]*"sequence":5[^]*$/u, "")],
        ["another root", whole.replace(/"root":"./u, '"root":"x')],
        ["a line more", `${whole}{"sequence":6}\n`],
      ] as const) {
        expect(other, what).not.toBe(whole);
        writeFileSync(path, other);
        expect(verify(path), `${name}: ${what}`).toMatchObject({ code: 1, said: expect.stringMatching(/^BAD /u) });
        if (hasPython) expect(byPython(path).code, `${name}: ${what}`).toBe(1);
      }
    }
  });
});

it(
  "the signed checkpoint of the test vectors is what the program signs, and good to the verifier alone",
  { tags: "long" },
  () => {
    const { tree, checkpoint } = vectors;
    const { seed, key, note } = checkpoint;
    const der = Buffer.from(`302e020100300506032b657004220420${seed}`, "hex");
    const secret = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    const [read] = readNotes(note);
    if (read === undefined) throw new Error("the note cannot be read");
    expect(read).toMatchObject({ size: 5, sequence: 5, hash: tree.entries[4]?.hash, root: tree.roots[5] });
    expect([signedNote(read, secret), verifierKey(read.origin, secret)]).toEqual([note, key]);

    const [verify, place] = [verifierAlone(), folder()];
    const [path, heads] = [join(place, "tree.ndjson"), join(place, "checkpoint.txt")];
    writeFileSync(path, exported(tree.entries, { size: 5, root: read.root }));
    const last = note.slice(0, -10);
    for (const [text, code] of [
      [note, 0],
      [note.replace("time 2026", "time 2027"), 1],
      [`${last}${another(last.slice(-1))}${note.slice(-9)}`, 1],
    ] as const) {
      writeFileSync(heads, text);
      expect(verify(path, "--key", key, "--heads", heads), text).toMatchObject({ code });
    }
  },
);

describe("an export", () => {
  it(
    "is good on a machine that has nothing but Node, by itself and with the heads beside the ledger",
    { tags: "long" },
    async () => {
      const w = await lived();
      const path = await exportOf(w);
      const verify = verifierAlone();
      const [head] = documents(await w.run("--json", "audit", "head"));
      const { code, said } = verify(path, "--heads", w.path("ledger.db.heads"));
      expect([code, said]).toEqual([0, expect.stringContaining(`tree: ${head.size} leaves, root ${head.root}`)]);
      expect(said).toMatch(/heads: \d+ that were kept outside fit/u);
      expect(verify(path)).toMatchObject({ code: 0, said: expect.stringContaining("no head from outside was given") });
      if (hasPython) expect(byPython(path)).toEqual({ code: 0, said: "good\n" });
      expect(verify(w.path("crm-sync.yaml"))).toMatchObject({ code: 1 });
      expect(verify(w.path("nowhere.ndjson"))).toMatchObject({ code: 2 });
    },
  );
});

describe("an export of many entries", () => {
  it(
    "has a checkpoint after every 1,000th entry but the last, and is bad to both verifiers for a byte beside",
    { tags: "long" },
    async () => {
      const { ledger, path } = await openLedger();
      const place = join(folder(), "audit.ndjson");
      const verify = verifierAlone();
      const judged = (text: string): unknown[] => {
        writeFileSync(place, text);
        return hasPython ? [verify(place).code, byPython(place).code] : [verify(place).code, verify(place).code];
      };
      let text = "";
      for (const [entries, checkpoints] of [
        [1_000, 0],
        [1_001, 1],
        [2_000, 1],
        [2_003, 2],
      ] as const) {
        const more = entries - (ledger.audit.head()?.sequence ?? 0);
        await Promise.all(
          Array.from({ length: more }, () => ledger.audit.append({ kind: "k", subject: "s", body: { entries } })),
        );
        const reader = new ReadOnlyLedger(path, openReadOnly(path));
        const lines = await Array.fromAsync(auditExport(reader, "crm-sync audit record 2", 1_000));
        reader.close();
        text = lines.join("");
        expect(lines.filter((line) => line.startsWith('{"checkpoint"'))).toHaveLength(checkpoints);
        expect(judged(text), `${entries}`).toEqual([0, 0]);
      }
      const checkpoint = /^\{"checkpoint".*\n/mu.exec(text)?.[0] ?? "";
      for (const [what, changed] of [
        ["a checkpoint twice", text.replace(checkpoint, checkpoint.repeat(2))],
        ["no checkpoint", text.replace(checkpoint, "")],
        ["a checkpoint elsewhere", text.replace(/\{"end":(.*\n)/u, (end, rest) => `{"checkpoint":${rest}${end}`)],
        ["something before it", `\uFEFF${text}`],
        ["no end of the last line", text.slice(0, -1)],
        ["an empty line", `${text}\n`],
        ["lines as Windows ends them", text.replaceAll("\n", "\r\n")],
        ["a zero behind it", `${text}\0`],
        ["a blank", text.replace('{"end":', '{ "end":')],
        ["a number written otherwise", text.replace('"size":2003', '"size":2003.0')],
      ] as const) {
        expect(changed, what).not.toBe(text);
        expect.soft(judged(changed), what).toEqual([1, 1]);
      }
    },
  );
});

describe("an export beside a run", () => {
  it("begins with entry and tree of one state, whatever is written between the readings of them", async () => {
    const { ledger, path } = await openLedger();
    for (let number = 1; number <= 3; number += 1)
      await ledger.audit.append({ kind: "k", subject: "s", body: { number } });
    const other = sqlite(path);
    const log = new AuditLog(other, systemRandomness);
    const reader = new ReadOnlyLedger(path, openReadOnly(path));
    const reading = reader.reading.bind(reader);
    reader.reading = (work) => {
      log.append({ at: "2026-10-01T08:00:00.000Z", kind: "k", subject: "s", body: {} });
      log.grow();
      return reading(work);
    };
    const written: string[] = [];
    for await (const line of auditExport(reader, "form", 1_000)) written.push(line);
    reader.close();
    expect(JSON.parse(written[0] ?? "")).toEqual({ export: "form", entries: 3 });
    expect(JSON.parse(written.at(-1) ?? "").end).toMatchObject({ entries: 3, size: 3 });
  });
});

describe("a head that is signed", () => {
  it(
    "is checked by its verifier key alone, and one that somebody changed counts for nothing",
    { tags: "long" },
    async () => {
      const w = await lived();
      const { privateKey } = generateKeyPairSync("ed25519");
      w.extra = "audit: { signKey: env:AUDIT_KEY }\n";
      w.write();
      w.environment["AUDIT_KEY"] = privateKey.export({ format: "pem", type: "pkcs8" });
      const head = await w.run("audit", "head");
      expect([head.exitCode, head.stderr]).toEqual([0, ""]);
      expect(head.stdout).not.toContain("PRIVATE KEY");
      writeFileSync(w.path("head.txt"), head.stdout);
      const verifier = /^verifier (\S+)$/mu.exec(head.stdout)?.[1] ?? "";
      expect(documents(await w.run("--json", "audit", "head"))[0]).toMatchObject({ verifier });
      const path = await exportOf(w);
      const verify = verifierAlone();
      for (let run = 0; run < 2; run += 1) {
        expect((await w.run("audit", "verify", "--heads", w.path("head.txt"))).exitCode).toBe(0);
        expect(verify(path, "--key", verifier, "--heads", w.path("head.txt"))).toMatchObject({
          code: 0,
          said: expect.stringContaining("heads: 1 that were kept outside fit"),
        });
        // Somebody who has the verifier key alone reads as well.
        delete w.environment["AUDIT_KEY"];
        expect((await w.run("audit", "verify", "--key", verifier, "--heads", w.path("head.txt"))).exitCode).toBe(0);
        w.environment["AUDIT_KEY"] = privateKey.export({ format: "pem", type: "pkcs8" });
        for (const _ of [1, 2]) await w.run("run", "everything");
        await exportOf(w);
      }
      const other = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
      const forged: [string, string][] = [
        ["another entry", head.stdout.replace(/^entry \d+$/mu, "entry 3")],
        ["another root", head.stdout.replace(/(?<=^\d+\n)./mu, another)],
        ["another time", head.stdout.replace("time 2", "time 1")],
        ["no signature", head.stdout.replace(/^— .*$/mu, "")],
      ];
      w.environment["AUDIT_KEY"] = other;
      forged.push(["another key", (await w.run("audit", "head")).stdout]);
      for (const [what, text] of forged) {
        expect(text, what).not.toBe(head.stdout);
        writeFileSync(w.path("forged.txt"), text);
        const found = await w.run("audit", "verify", "--key", verifier, "--heads", w.path("forged.txt"));
        expect([found.exitCode, found.stdout], what).toEqual([65, expect.stringContaining("(head-signature)")]);
        expect(verify(path, "--key", verifier, "--heads", w.path("forged.txt")), what).toMatchObject({
          code: 1,
          said: expect.stringMatching(/^BAD head-signature/u),
        });
      }
      w.environment["AUDIT_KEY"] = "no key at all";
      expect((await w.run("check")).stdout).toContain("is no Ed25519 private key in PEM");
      const refused = await w.run("audit", "head");
      expect([refused.exitCode, refused.stderr]).toEqual([78, expect.stringContaining("no Ed25519 private key")]);
      expect(refused.stderr + refused.stdout).not.toContain("no key at all");
    },
  );
});

describe("a proof", () => {
  it(
    "holds the entries about one order and nothing of another, and is checked against a head that was kept",
    { tags: "long" },
    async () => {
      const w = await lived();
      const [order, other] = w.orders.map(({ id }) => id);
      const proven = await w.run("audit", "prove", "--order", order ?? "", "--out", w.path("proof.json"));
      expect(proven.exitCode, proven.stderr).toBe(0);
      const text = readFileSync(w.path("proof.json"), "utf8");
      const proof = JSON.parse(text);
      expect(proof.entries.length).toBeGreaterThan(0);
      expect(new Set(proof.entries.map((one: Entry) => one.subject))).toEqual(new Set([`order:crm/${order}`]));
      expect(text).not.toContain(`order:crm/${other}`);
      const verify = verifierAlone();
      const path = w.path("proof.json");
      if (hasPython) expect(byPython(path)).toEqual({ code: 0, said: "good\n" });
      expect(verify(path, "--heads", w.path("ledger.db.heads"))).toMatchObject({
        code: 0,
        said: expect.stringContaining("that root was kept outside"),
      });
      for (const [what, found, put] of [
        ["a changed body", '\\"state\\"', () => '\\"State\\"'],
        ["another path", /(?<="path": \[\s+")./u, another],
        ["another root", /(?<="root": ")./u, another],
        ["another order", `"about": "order:crm/${order}"`, () => `"about": "order:crm/${other}"`],
      ] as const) {
        const changed = text.replace(found, put);
        expect(changed, what).not.toBe(text);
        writeFileSync(path, changed);
        expect(verify(path), what).toMatchObject({ code: 1 });
        if (hasPython) expect(byPython(path).code, what).toBe(1);
      }
      writeFileSync(path, text);
      const heads = readFileSync(w.path("ledger.db.heads"), "utf8");
      writeFileSync(w.path("other.heads"), heads.replaceAll(/(?<="root":")./gu, another));
      expect(verify(path, "--heads", w.path("other.heads")).said).toMatch(/^BAD record-rewritten/u);
      for (const since of [1, 3, 4, 7]) {
        const grown = await w.run("audit", "prove", "--order", order ?? "", "--since", `${since}`);
        writeFileSync(path, grown.stdout);
        if (hasPython) expect(byPython(path)).toEqual({ code: 0, said: "good\n" });
        expect(verify(path, "--heads", w.path("ledger.db.heads")), `${since}`).toMatchObject({
          code: 0,
          said: expect.stringMatching(new RegExp(`^grown: from the root \\w+ of entry ${since},`, "mu")),
        });
        const { root } = JSON.parse(grown.stdout).since;
        writeFileSync(path, grown.stdout.replace(`"root": "${root}"`, `"root": "${"0".repeat(64)}"`));
        expect(verify(path), `${since}`).toMatchObject({
          code: 1,
          said: expect.stringMatching(/^BAD record-rewritten/u),
        });
      }
      const future = await w.run("audit", "prove", "--order", order ?? "", "--since", "100000");
      expect([future.exitCode, future.stderr]).toEqual([64, expect.stringContaining("has no entry 100000")]);
      const stranger = await w.run("audit", "prove", "--order", "9999");
      expect([stranger.exitCode, stranger.stderr]).toEqual([64, expect.stringContaining("no audit entry is about")]);
    },
  );
});

describe("a ledger that somebody has the file of", () => {
  const drop =
    "drop trigger audit_refuses_update; drop trigger audit_refuses_delete; drop trigger audit_appends_only;" +
    "drop trigger audit_tree_only_grows;";

  it("names by its own word what was done to it, with the first entry that is wrong", { tags: "long" }, async () => {
    const w = await lived();
    const rows = w.rows<{ n: number; sql: string }>(
      "select (select max(sequence) from audit) as n, group_concat(sql, ';') as sql from sqlite_master " +
        "where type = 'trigger' and name in ('audit_refuses_update', 'audit_refuses_delete', 'audit_appends_only', " +
        "'audit_tree_only_grows')",
    );
    const { n: last = 0, sql: guards = "" } = rows[0] ?? {};
    const good = {
      ledger: readFileSync(w.path("ledger.db")),
      heads: readFileSync(w.path("ledger.db.heads"), "utf8"),
    };
    const lay = (): void => {
      for (const suffix of ["-wal", "-shm"]) writeFileSync(w.path(`ledger.db${suffix}`), "");
      writeFileSync(w.path("ledger.db"), good.ledger);
      writeFileSync(w.path("ledger.db.heads"), good.heads);
    };
    const changed = (sql: string) => (): void => w.tamper(`${drop}${sql};${guards}`);
    const cases: [string, () => void, RegExp][] = [
      [
        "one byte of an entry",
        changed("update audit set body = replace(body, '\"run\"', '\"ran\"') where sequence = 3"),
        /BAD at entry 3 \(entry-changed\)/u,
      ],
      [
        "the end",
        changed(`delete from audit where sequence > ${last - 2}`),
        /completeness +BAD at entry \d+ \(cut-off\)/u,
      ],
      ["one in the middle", changed("delete from audit where sequence = 4"), /BAD at entry 4 \(entry-missing\)/u],
      [
        "two that were swapped",
        changed(
          "update audit set sequence = -1 where sequence = 2; update audit set sequence = 2 where sequence = 3;" +
            "update audit set sequence = 3 where sequence = -1",
        ),
        /BAD at entry 2 \(entry-moved\)/u,
      ],
      ["a guard", () => w.tamper("drop trigger audit_refuses_delete"), /BAD \(guard-missing\).*audit_refuses_delete/u],
      ["the tree", changed("update audit_tree set roots = '[]'"), /\(tree-changed\)/u],
      [
        "a head",
        () => {
          const lines = good.heads.split("\n");
          const place = lines.findIndex((line) => line.includes('"sequence":3,'));
          lines[place] = (lines[place] ?? "").replace(/(?<="hash":")./u, another);
          writeFileSync(w.path("ledger.db.heads"), lines.join("\n"));
        },
        /BAD at entry 3 \(heads-disagree\)/u,
      ],
    ];
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
    for (const [what, attack, named] of cases) {
      lay();
      attack();
      const ended = await w.run("audit", "verify");
      expect.soft([ended.exitCode, ended.stdout], what).toEqual([65, expect.stringMatching(named)]);
    }
    lay();
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
  });

  it(
    "that was written anew as a whole is found by the heads, also by a copy of them elsewhere",
    { tags: "long" },
    async () => {
      const w = await lived();
      copyFileSync(w.path("ledger.db.heads"), w.path("elsewhere.heads"));
      const entries = w.rows<Entry>("select * from audit order by sequence");
      const tree = new RecordTree();
      let previous = "";
      const updates = entries.map((row) => {
        const body = row.sequence === 2 ? '{"forged":true}' : row.body;
        const fresh = { ...row, body, previous };
        const hash = auditHash(fresh);
        previous = hash;
        tree.take({ ...fresh, hash });
        const { sequence } = row;
        return `update audit set body = '${body.replaceAll("'", "''")}', previous = '${fresh.previous}', hash = '${hash}' where sequence = ${sequence};`;
      });
      const guards = w.rows<{ sql: string }>(
        "select sql from sqlite_master where type = 'trigger' and name in ('audit_refuses_update', 'audit_tree_only_grows')",
      );
      w.tamper(
        `drop trigger audit_refuses_update; drop trigger audit_tree_only_grows; ${updates.join("")}` +
          `update audit_tree set roots = '${JSON.stringify(tree.leaves.roots)}'; ${guards.map(({ sql }) => `${sql};`).join("")}`,
      );
      expect((await w.run("audit", "verify")).stdout).toMatch(/\(record-rewritten\)/u);
      // Whoever wrote it anew can write the file beside it anew as well.
      const { sequence, hash, root } = { sequence: entries.length, hash: previous, root: tree.leaves.root() };
      const heads = readFileSync(w.path("ledger.db.heads"), "utf8").split("\n").filter(Boolean);
      const { commit, at } = JSON.parse(heads.at(-1) ?? "{}");
      writeFileSync(w.path("ledger.db.heads"), `\n${JSON.stringify({ commit, sequence, hash, root, at })}`);
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
      const found = await w.run("audit", "verify", "--heads", w.path("elsewhere.heads"));
      expect([found.exitCode, found.stdout]).toEqual([
        65,
        expect.stringMatching(/\((?:heads-disagree|record-rewritten)\)/u),
      ]);
      const path = await exportOf(w);
      const verify = verifierAlone();
      expect(verify(path).code).toBe(0);
      expect(verify(path, "--heads", w.path("elsewhere.heads"))).toMatchObject({
        code: 1,
        said: expect.stringMatching(/^BAD record-rewritten/u),
      });
    },
  );

  it(
    "is stale where nothing was recorded for longer than is asked for, and whole all the same",
    { tags: "long" },
    async () => {
      const w = await lived();
      const verified = await w.run("audit", "verify", "--within", "0s");
      expect([verified.exitCode, verified.stdout]).toEqual([3, expect.stringMatching(/^freshness +STALE/mu)]);
      appendFileSync(w.path("empty.heads"), "");
      const nothing = await w.run("audit", "verify", "--heads", w.path("empty.heads"));
      expect([nothing.exitCode, nothing.stderr]).toEqual([64, expect.stringContaining("no head stands in")]);
    },
  );
});
