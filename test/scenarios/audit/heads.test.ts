import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { exportOf, lived, verifierAlone } from "../../support/audit-record.ts";
import type { World } from "../../support/cli.ts";

/** A digit that is another one. */
const another = (digit: string): string => (digit === "a" ? "b" : "a");

/** What `audit verify` and the verifier that stands alone say of heads, and how they end. */
async function both(w: World, path: string, ...words: string[]): Promise<unknown[]> {
  const own = await w.run("audit", "verify", ...words);
  const alone = verifierAlone()(path, ...words);
  return [own.exitCode, own.stdout + own.stderr, alone.code, alone.said];
}

/** How both end. */
async function codes(w: World, path: string, heads: string): Promise<unknown[]> {
  const [own, , alone] = await both(w, path, "--heads", heads);
  return [own, alone];
}

/** A company of two runs whose heads are kept and signed elsewhere, and its verifier key. */
async function kept(): Promise<{ w: World; path: string; heads: string; verifier: string }> {
  const w = await lived();
  mkdirSync(w.path("elsewhere"));
  w.extra = "audit: { signKey: env:AUDIT_KEY, heads: [{ kind: file, path: elsewhere/crm.heads }] }\n";
  w.environment["AUDIT_KEY"] = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  w.write();
  for (const _ of [1, 2]) await w.run("run", "everything");
  const verifier = /^verifier (\S+)$/mu.exec((await w.run("audit", "head")).stdout)?.[1] ?? "";
  return { w, path: await exportOf(w), heads: w.path("elsewhere/crm.heads"), verifier };
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
      expect(await codes(w, path, w.path("odd.heads")), what).toEqual([64, 2]);
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
    expect(await codes(w, path, w.path("kept.txt"))).toEqual([0, 0]);
    // The end of it is cut off, in the ledger and beside it.
    for (const suffix of ["-wal", "-shm"]) writeFileSync(w.path(`ledger.db${suffix}`), "");
    writeFileSync(w.path("ledger.db"), kept);
    writeFileSync(w.path("ledger.db.heads"), before);
    writeFileSync(w.path("short.ndjson"), short);
    expect(await codes(w, w.path("short.ndjson"), w.path("kept.txt"))).toEqual([65, 1]);
    writeFileSync(w.path("windows.txt"), readFileSync(w.path("kept.txt"), "utf8").replaceAll("\n", "\r\n"));
    expect(await codes(w, w.path("short.ndjson"), w.path("windows.txt"))).toEqual([65, 1]);
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

describe("a head that was kept elsewhere", () => {
  it("counts as another one where it names another size of the tree", { tags: "long" }, async () => {
    const { w, path, heads, verifier } = await kept();
    expect(await both(w, path, "--heads", heads)).toMatchObject([0, {}, 0, {}]);
    const text = readFileSync(heads, "utf8");
    writeFileSync(
      heads,
      text.replaceAll(/"size":(\d+)/gu, (_, size) => `"size":${Number(size) + 1}`),
    );
    expect(await both(w, path, "--key", verifier, "--heads", heads)).toEqual([
      65,
      expect.stringContaining("(head-signature)"),
      1,
      expect.stringContaining("BAD head-signature"),
    ]);
    writeFileSync(heads, readFileSync(heads, "utf8").replaceAll(/,"checkpoint":"(?:[^"\\]|\\.)*"/gu, ""));
    expect(await both(w, path, "--heads", heads)).toEqual([
      65,
      expect.stringContaining("(heads-disagree): "),
      1,
      expect.stringContaining("BAD record-rewritten"),
    ]);
  });

  it("is not passed over where it can no longer be read, beside others that can", { tags: "long" }, async () => {
    const { w, path, heads } = await kept();
    const note = /(?<=\n\n)crm-sync[^]*$/u.exec((await w.run("audit", "head")).stdout)?.[0] ?? "";
    for (const [what, spoiled] of [
      ["its entry", note.replace(/^entry \d+$/mu, "entry 1e3")],
      ["its root", note.replace(/(?<=^\d+\n)../mu, "")],
      ["its size", note.replace(/^\d+$/mu, "many")],
      ["its end", note.split("\n").slice(0, 3).join("\n")],
    ] as const) {
      expect(spoiled, what).not.toBe(note);
      writeFileSync(w.path("kept.txt"), `${note}\n${spoiled}`);
      expect(await both(w, path, "--heads", w.path("kept.txt")), what).toEqual([
        64,
        expect.stringContaining("a checkpoint of crm-sync/ledger_"),
        2,
        expect.stringContaining("a checkpoint of crm-sync/ledger_"),
      ]);
    }
    const lines = readFileSync(heads, "utf8").replaceAll(String.raw`\nentry `, String.raw`\nentri `);
    writeFileSync(heads, lines);
    expect(await both(w, path, "--heads", heads)).toMatchObject([64, {}, 2, {}]);
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
      expect(await w.ask("audit", "head")).toMatchObject({ verifier });
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
      expect([refused.exitCode, refused.stderr]).toEqual([
        78,
        expect.stringContaining("does not name an Ed25519 private key"),
      ]);
      expect(refused.stderr + refused.stdout).not.toContain("no key at all");
    },
  );
});

it(
  "a record is stale where nothing was recorded for long, or the last entry is still to come",
  { tags: "long" },
  async () => {
    const w = await lived();
    const fresh = async (...words: string[]): Promise<unknown[]> => {
      const { exitCode, stdout } = await w.run("audit", "verify", ...words);
      return [exitCode, /^freshness +STALE/mu.test(stdout)];
    };
    expect(await fresh("--within", "1h")).toEqual([0, false]);
    w.later(2);
    expect(await fresh("--within", "1h")).toEqual([3, true]);
    w.later(24 * 365 * 100);
    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    await w.run("run", "everything");
    w.later(-24 * 365 * 100);
    expect((await fresh())[1]).toBe(true);
  },
);
