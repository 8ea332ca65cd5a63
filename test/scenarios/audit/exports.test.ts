import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { byPython, exportOf, hasPython, lived, verifierAlone } from "../../support/audit-record.ts";

describe("an export", () => {
  it(
    "is good on a machine that has nothing but Node, by itself and with the heads beside the ledger",
    { tags: "long" },
    async () => {
      const w = await lived();
      const path = await exportOf(w);
      const verify = verifierAlone();
      const head = await w.ask("audit", "head");
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

it("the verifier that stands alone says how it is called", { tags: "long" }, () => {
  const verify = verifierAlone();
  const said = expect.stringMatching(/^usage: node verify\.mjs FILE [^]*--key [^]*--heads [^]*Ends with 0 /u);
  expect(verify("--help")).toEqual({ code: 0, said });
  expect(verify("a.ndjson", "--help")).toEqual({ code: 0, said });
  expect(verify()).toEqual({ code: 2, said });
  expect(verify("a.ndjson", "--other")).toEqual({ code: 2, said: expect.stringContaining("usage: node verify.mjs") });
});
