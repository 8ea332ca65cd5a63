import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { byPython, hasPython, lived, verifierAlone } from "../../support/audit-record.ts";
import type { Parsed } from "../../support/cli.ts";

/** A digit that is another one. */
const another = (digit: string): string => (digit === "a" ? "b" : "a");

it("a proof holds the entries about one order and nothing of another, and is good without the program", async () => {
  const w = await lived();
  const path = w.path("proof.json");
  expect((await w.run("audit", "prove", "--order", "O1", "--out", path)).exitCode).toBe(0);
  const text = readFileSync(path, "utf8");
  const { entries } = JSON.parse(text);
  expect(entries.length).toBeGreaterThan(0);
  expect(new Set(entries.map((one: Parsed) => one.subject))).toEqual(new Set(["order:crm/O1"]));
  expect(text).not.toContain("order:crm/O2");
  expect(verifierAlone()(path, "--heads", w.path("ledger.db.heads"))).toMatchObject({ code: 0 });
});

describe("a proof", () => {
  it("is bad where anything of it is another, and shows how the record grew", { tags: "long" }, async () => {
    const w = await lived();
    const [order, other] = w.orders.map(({ id }) => id);
    const proven = await w.run("audit", "prove", "--order", order ?? "", "--out", w.path("proof.json"));
    expect(proven.exitCode, proven.stderr).toBe(0);
    const text = readFileSync(w.path("proof.json"), "utf8");
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
      const grown = await w.run("audit", "prove", "--order", order ?? "", "--grown-since", `${since}`);
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
    const future = await w.run("audit", "prove", "--order", order ?? "", "--grown-since", "100000");
    expect([future.exitCode, future.stderr]).toEqual([64, expect.stringContaining("has no entry 100000")]);
    const stranger = await w.run("audit", "prove", "--order", "9999");
    expect([stranger.exitCode, stranger.stderr]).toEqual([64, expect.stringContaining("no audit entry is about")]);
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
      const text = (await w.run("audit", "prove", "--order", order, "--grown-since", last)).stdout;
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
      const { about: _, ...without } = whole;
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
    const proven = await w.run("audit", "prove", "--order", order, "--grown-since", "3", "--out", w.path("proof.json"));
    expect([proven.exitCode, proven.stderr]).toEqual([65, expect.stringContaining("crm-sync audit verify")]);
    expect(() => readFileSync(w.path("proof.json"))).toThrow(/ENOENT/u);
  });
});

describe("a proof that somebody made fit", () => {
  it("is not believed for another place, another size, or beside what it proves", { tags: "long" }, async () => {
    const w = await lived();
    const verify = verifierAlone();
    const path = w.path("proof.json");
    const order = w.orders[0]?.id ?? "";
    const heads = w.path("ledger.db.heads");
    await w.run("audit", "prove", "--order", order, "--grown-since", "4", "--out", path);
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
      ["something more of the tree", 1, { ...whole, tree: { ...whole.tree, more: true } }],
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
