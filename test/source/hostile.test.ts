import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, type Json } from "../../src/base/canonical-json.ts";
import { parseJson, recordLimitsSchema } from "../../src/source/json.ts";
import { compileStream } from "../../src/source/mapping/compile.ts";
import { blankSecrets } from "../../src/source/mapping/path.ts";
import { customerMapping, customersFile, directoryWith, openSource, readAll, type WholeReading } from "./support.ts";

const limits = recordLimitsSchema.parse({});
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const wide = (members: number): string =>
  `{${Array.from({ length: members }, (_, index) => `"m${index}":1`).join(",")}}`;

/** Hostile records as JSON text, each with the reason for which it is refused, or undefined where it is taken. */
const hostile: [string, string, string | undefined][] = [
  ["10,000 lists in each other", `{"id":"1","name":${nested(10_000)}}`, "too-deep"],
  [
    "10,000 lists in each other beside a number that needs care",
    `{"id":12345678901234567890,"name":${nested(10_000)}}`,
    "too-deep",
  ],
  ["an object of 100,000 members", `{"id":"1","name":${wide(100_000)}}`, "too-wide"],
  ["a list of 100,000 elements", `{"id":"1","name":[${"1,".repeat(99_999)}1]}`, "too-wide"],
  ["a member that stands twice", '{"id":"1","name":"a","name":"b"}', "duplicate-member"],
  [
    "a member that stands twice once its escapes are read",
    '{"id":"1","name":"a","n\\u0061me":"b"}',
    "duplicate-member",
  ],
  ["colons and quotes in texts", '{"id":"1","name":"a\\":\\"b\\\\","x":{"u":"http://h:1/{\\"k\\":2}"}}', undefined],
  ["a member __proto__", '{"id":"1","name":"a","__proto__":{"name":"b","isAdmin":true}}', undefined],
  ["a NUL character", '{"id":"1","name":"a\\u0000b"}', undefined],
  ["a lone surrogate", '{"id":"1","name":"a\\ud800"}', undefined],
];

const mapCustomer = compileStream("customers", { ...customerMapping, address: "address" }).map;

describe("hostile records", () => {
  it.each(hostile)(
    "with %s are taken or refused, alike in every format",
    { tags: "long" },
    async (_name, text, code) => {
      const json = await readOne("c.json", `[{"id":"0"},${text},{"id":"2"}]`);
      const lines = await readOne("c.ndjson", `{"id":"0"}\n${text}\n{"id":"2"}\n`);
      for (const reading of [json, lines]) {
        expect(reading.outcome).toMatchObject({ complete: true, rows: 3 });
        expect(reading.bads.map((bad) => bad.code)).toEqual(code === undefined ? [] : [code]);
        for (const { value } of reading.raws) expect(canonicalJson(value)).toContain('"id"');
      }
    },
  );

  it.each([
    ["a NUL character", "a\0b"],
    ["a lone surrogate", "a\ud800b"],
  ])("with %s in a text that is used are rejected without showing it", (_name, name) => {
    const result = mapCustomer({ id: "1", name });
    expect(result).toMatchObject({ ok: false, error: { id: "1", field: "name", code: "broken-text" } });
    expect(JSON.stringify(result)).not.toMatch(/\\u0000|\\ud800/);
  });

  it.each(["=1+1", "\u202Eevil", "\u001b[31mred", "😀".repeat(1_000), "Ω".repeat(100)])(
    "with the text %j pass it on as it is",
    (name) => {
      expect(mapCustomer({ id: "1", name })).toMatchObject({ ok: true, value: { record: { name } } });
    },
  );

  it("with __proto__ change neither themselves nor anything else", async () => {
    const { raws } = await readOne("c.ndjson", '{"id":"1","__proto__":{"name":"polluted","toString":1}}\n');
    const [raw] = raws;
    expect(raw === undefined ? undefined : Object.keys(raw.value)).toEqual(["id", "__proto__"]);
    expect(mapCustomer(raw?.value ?? {})).toMatchObject({ ok: false, error: { field: "name", code: "missing" } });
    expect(Object.hasOwn(Object.prototype, "name")).toBe(false);
    expect(canonicalJson(blankSecrets(raw?.value ?? {}, ["__proto__.name"]))).toBe(
      '{"__proto__":{"name":"[secret]","toString":1},"id":"1"}',
    );
  });

  it(
    "of 64 MB are passed over in every format, and what comes after them in JSON and NDJSON is read",
    { tags: "long" },
    async () => {
      const big = "x".repeat(64_000_000);
      const json = await readOne("c.json", `[{"id":"${big}"},{"id":"2"}]`);
      const lines = await readOne("c.ndjson", `{"id":"${big}"}\n{"id":"2"}\n`);
      for (const { raws, bads, outcome } of [json, lines]) {
        expect(raws.map(({ value }) => value["id"])).toEqual(["2"]);
        expect(bads.map(({ code, text }) => [code, text])).toEqual([["too-large", undefined]]);
        expect(outcome.complete).toBe(true);
      }
      const csv = await readOne("c.csv", `id,name\n1,a\n2,${big}\n3,c\n`);
      expect(csv.outcome).toMatchObject({ complete: false, problem: { code: "source.too-large" } });
    },
  );

  it("keep ids beyond 2^53, long decimals and huge exponents as they were written", () => {
    const text =
      '{"a":9007199254740993,"b":-9007199254740993,"c":9007199254740991,"d":0.12345678901234567,"e":1e400,"f":12.50,"g":1e3,"h":2.0,"i":1.230}';
    expect(parseJson(text, limits)).toEqual({
      ok: true,
      value: {
        a: "9007199254740993",
        b: "-9007199254740993",
        c: 9_007_199_254_740_991,
        d: "0.12345678901234567",
        e: "1e400",
        f: "12.50",
        g: 1_000,
        h: 2,
        i: 1.23,
      },
    });
  });

  it("keep at most 64 KiB of their raw text, cut between characters, and none where the mapping reads secrets", async () => {
    const text = `{"id": ${"😀".repeat(100_000)}\n`;
    const { bads } = await readOne("c.ndjson", `${text}{"id":"2"}\n`);
    expect(bads[0]?.text?.length).toBe(65_536);
    expect(bads[0]?.text?.isWellFormed()).toBe(true);
    const mapping = { id: "id", customerId: "c", userName: "u", name: "n", password: "p" };
    const source = openSource(
      { kind: "file", streams: { staff: { files: "s.ndjson", mapping } } },
      directoryWith({ "s.ndjson": '{"p":"canary"\n{}\n' }),
    );
    expect((await readAll(source, "staff")).bads).toEqual([
      { place: "s.ndjson:1", code: "not-json", message: "the line is unusable: not valid JSON, or incomplete" },
    ]);
  });
});

describe("any input", () => {
  it("of JSON values is mapped or rejected, never thrown", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("id", "name", "address", "__proto__", "x"), fc.jsonValue()), (raw) => {
        const result = mapCustomer(raw);
        expect(typeof result.ok).toBe("boolean");
      }),
    );
  });

  it("of JSON text is parsed as JSON.parse does where numbers are small, whatever its texts hold", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), (value, pretty) => {
        const text = JSON.stringify(value, null, pretty ? 2 : undefined);
        const parsed = parseJson(text, limits);
        expect(parsed.ok).toBe(true);
        if (parsed.ok && !/\d[\d.]{15}|[eE]/.test(text)) expect(parsed.value).toEqual(JSON.parse(text) as Json);
      }),
    );
  });

  it("of bytes is read to an end, whatever the format", { tags: "long" }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 400 }),
        fc.constantFrom("c.csv", "c.json", "c.ndjson", "c.csv.gz"),
        async (bytes, name) => {
          const { outcome, raws, bads } = await readOne(name, Buffer.from(bytes));
          expect(outcome.rows).toBe(raws.length + bads.length);
          expect(outcome.complete).toBe(outcome.problem === undefined);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("of CSV rows comes back as it was written, in every place where rows can be cut", { tags: "long" }, async () => {
    const field = fc.string({
      unit: fc.constantFrom("a", "ü", "日", '"', ",", "\n", "\r\n", " ", "😀"),
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(field, field), { maxLength: 30 }), async (rows) => {
        const quoted = rows.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(","));
        const { raws, outcome } = await readOne("c.csv", `${["id,name", ...quoted].join("\n")}\n`);
        expect(outcome).toMatchObject({ complete: true, rows: rows.length });
        expect(raws.map(({ value }) => [value["id"], value["name"]])).toEqual(rows);
      }),
    );
  });
});

function readOne(name: string, content: string | Buffer): Promise<WholeReading> {
  return readAll(openSource(customersFile({ files: name }), directoryWith({ [name]: content })), "customers");
}
