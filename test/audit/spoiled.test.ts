import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { auditProof } from "../../src/inquiry/audit.ts";
import { ReadOnlyLedger } from "../../src/inquiry/read-only-ledger.ts";
import { openReadOnly } from "../../src/ledger/database/database.ts";
import { byPython, exportOf, hasPython, lived, verifierAlone } from "../support/audit-record.ts";
import type { World } from "../support/cli.ts";
import { openLedger, sqlite } from "../support/world/start.ts";

/** What `audit verify` and the verifier that stands alone say of heads, and how they end. */
async function both(w: World, path: string, ...words: string[]): Promise<unknown[]> {
  const own = await w.run("audit", "verify", ...words);
  const alone = verifierAlone()(path, ...words);
  return [own.exitCode, own.stdout + own.stderr, alone.code, alone.said];
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

describe("a proof", () => {
  it(
    "that breaks off is cut off, and one that says more than it proves is not believed",
    { tags: "long" },
    async () => {
      const w = await lived();
      const verify = verifierAlone();
      const path = w.path("proof.json");
      const said = (text: string): unknown[] => {
        writeFileSync(path, text);
        const { code, said: words } = verify(path);
        if (hasPython) expect(byPython(path).code, text.slice(-200)).toBe(code);
        return [code, /^BAD ([\w-]+):/u.exec(words)?.[1]];
      };
      const order = w.orders[0]?.id ?? "";
      const last = (await w.run("audit", "head")).stdout.split(" ", 1)[0] ?? "";
      const text = (await w.run("audit", "prove", "--order", order, "--since", last)).stdout;
      expect(said(text)).toEqual([0, undefined]);
      for (const length of [text.length - 1, text.length - 2, text.length - 200, 40, 2])
        expect(said(text.slice(0, length)), `${length}`).toEqual([1, "cut-off"]);
      expect(said(text.replace('"about":', '"about"'))).toEqual([1, "line-broken"]);
      expect(said(`{\nnull\n}\n`)).toEqual([1, "line-broken"]);
      const whole = JSON.parse(text);
      const written = (proof: unknown): string => `${JSON.stringify(proof, undefined, 2)}\n`;
      expect(said(written({ ...whole, since: { ...whole.since, path: ["0".repeat(64)] } }))).toEqual([
        1,
        "record-rewritten",
      ]);
      expect(said(written({ ...whole, entriesBeforeTheTree: 1 }))).toEqual([1, "entry-not-proven"]);
      const { entriesBeforeTheTree: _, ...without } = whole;
      expect(said(written(without))).toEqual([1, "line-broken"]);
      const [entry] = whole.entries;
      expect(said(written({ ...whole, entries: [{ ...entry, more: 1 }] }))).toEqual([1, "line-broken"]);
    },
  );

  it.each([
    ["what an entry says", "update audit set body = '{}' where subject like 'order:%'"],
    ["the hash of an entry", "update audit set hash = replace(hash, 'a', 'b') where subject like 'order:%'"],
    ["the hash of one beside it", "update audit set hash = replace(hash, 'a', 'b') where subject not like 'order:%'"],
    ["the tree", "update audit_tree set roots = replace(roots, 'a', 'b')"],
  ])("is not handed out where somebody changed %s: nobody would believe it", { tags: "long" }, async (_, sql) => {
    const w = await lived();
    w.tamper(`drop trigger audit_refuses_update; drop trigger audit_tree_only_grows; ${sql}`);
    const order = w.orders[0]?.id ?? "";
    const proven = await w.run("audit", "prove", "--order", order, "--since", "3", "--out", w.path("proof.json"));
    expect([proven.exitCode, proven.stderr]).toEqual([65, expect.stringContaining("crm-sync audit verify")]);
    expect(() => readFileSync(w.path("proof.json"))).toThrow(/ENOENT/u);
  });
});

it("that the record has grown is not proven where somebody changed an entry before it", async () => {
  const { ledger, path } = await openLedger();
  for (let more = 1; more <= 300; more += 1)
    await ledger.audit.append({ kind: "k", subject: more === 280 ? "order:crm/1" : "s", body: { more } });
  ledger.close();
  const reader = new ReadOnlyLedger(path, openReadOnly(path));
  const order = { namespace: "crm", id: "1" };
  // What the ledger keeps of the first 256 leaves proves the entry, also where one of them is another now.
  expect(await auditProof(reader, order, 7)).toMatchObject({ size: 300, since: { size: 7 } });
  sqlite(path).exec(
    "drop trigger audit_refuses_update; update audit set hash = replace(hash, 'a', 'b') where sequence = 5",
  );
  expect(await auditProof(reader, order, undefined)).toMatchObject({ size: 300 });
  await expect(auditProof(reader, order, 7)).rejects.toThrow("the Merkle tree does not lead to the root");
  reader.close();
});

it(
  "an export with a byte that is no text is bad, and the line is named, and an earlier one that is wrong before it",
  { tags: "long" },
  async () => {
    const w = await lived();
    const verify = verifierAlone();
    const path = await exportOf(w);
    const good = readFileSync(path);
    const at = good.indexOf('"sequence":4,');
    const bytes = Buffer.from(good);
    bytes[at + 40] = 0xff;
    writeFileSync(path, bytes);
    expect(verify(path)).toEqual({ code: 1, said: "BAD line-broken: line 5 is no UTF-8\n" });
    const inSecond = good.indexOf('"hash":"', good.indexOf('"sequence":2,')) - 4;
    bytes.write(good[inSecond] === "9".charCodeAt(0) ? "8" : "9", inSecond);
    writeFileSync(path, bytes);
    expect(verify(path)).toMatchObject({ code: 1, said: expect.stringMatching(/^BAD entry-changed: .*entry 2 /u) });
  },
);
