import { createHash } from "node:crypto";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  customerMapping,
  customersFile,
  directoryWith,
  openFiles,
  openSource,
  readAll,
  type WholeReading,
} from "./support.ts";

/** Reads the customers of these files with these stream settings. */
function read(
  files: Record<string, string | Buffer>,
  stream: Record<string, unknown>,
  batchSize?: number,
): Promise<WholeReading> {
  const source = openSource(customersFile(stream), directoryWith(files));
  return readAll(source, "customers", batchSize === undefined ? {} : { batchSize });
}

const values = ({ raws }: WholeReading): unknown[] => raws.map(({ value }) => value);
const places = ({ raws }: WholeReading): string[] => raws.map(({ place }) => place);

describe("a CSV file", () => {
  it("is read into objects of texts with the line where each row begins", async () => {
    const csv = 'id,name\r\n1,"Meyer, ""Söhne"""\r\n\r\n2,"two\r\nlines"\r\n3,x\r\n';
    const reading = await read({ "c.csv": csv }, { files: "c.csv", key: "id" });
    expect(reading.raws).toEqual([
      { place: "c.csv:2", key: "1", value: { id: "1", name: 'Meyer, "Söhne"' } },
      { place: "c.csv:4", key: "2", value: { id: "2", name: "two\r\nlines" } },
      { place: "c.csv:6", key: "3", value: { id: "3", name: "x" } },
    ]);
    expect(reading.outcome).toEqual({ complete: true, full: true, rows: 3 });
  });

  it("takes another delimiter and quote, and a header from the settings", async () => {
    const csv = { delimiter: ";", quote: "'", header: ["id", "name"] };
    expect(values(await read({ "c.csv": "1;'a;b'\n2;c\n" }, { files: "c.csv", csv }))).toEqual([
      { id: "1", name: "a;b" },
      { id: "2", name: "c" },
    ]);
  });

  it("joins the surplus of a row into the column that holds unquoted delimiters", async () => {
    const reading = await read(
      { "c.csv": "id,address,city\n1,a, b, c,X\n2,d,Y\n3,Z\n" },
      { files: "c.csv", csv: { surplusInto: "address" }, mapping: { ...customerMapping, name: "address" } },
    );
    expect(values(reading)).toEqual([
      { id: "1", address: "a, b, c", city: "X" },
      { id: "2", address: "d", city: "Y" },
    ]);
    expect(reading.bads).toMatchObject([{ place: "c.csv:4", code: "column-count", text: "3,Z" }]);
  });

  it("with a row of another number of fields goes on after it", async () => {
    const reading = await read({ "c.csv": "id,name\n1,a\n2\n3,c,d\n4,e\n" }, { files: "c.csv" });
    expect(places(reading)).toEqual(["c.csv:2", "c.csv:5"]);
    expect(reading.bads.map(({ place, message }) => [place, message])).toEqual([
      ["c.csv:3", "the row has 1 fields, but the header has 2"],
      ["c.csv:4", "the row has 3 fields, but the header has 2"],
    ]);
    expect(reading.outcome).toEqual({ complete: true, full: true, rows: 4 });
  });

  it("with a quote in the middle of a field has one bad row and is read whole", async () => {
    const reading = await read({ "c.csv": 'id,name\n1,4" pipe\n2,b\n' }, { files: "c.csv" });
    expect(reading.bads).toMatchObject([{ place: "c.csv:2", code: "broken-quote" }]);
    expect(values(reading)).toEqual([{ id: "2", name: "b" }]);
    expect(reading.outcome.complete).toBe(true);
    const relaxed = await read(
      { "c.csv": 'id,name\n1,4" pipe\n2,b\n' },
      { files: "c.csv", csv: { relaxQuotes: true } },
    );
    expect(values(relaxed)[0]).toEqual({ id: "1", name: '4" pipe' });
  });

  it.each([
    ["a quote that is never closed", 'id,name\n1,a\n2,"b\n3,c\n'],
    ["a quote that is closed by the next row's", 'id,name\n1,"a\n2,"b\n3,c\n4,d\n'],
    ["a quoted field that swallowed rows", 'id,name\n1,"a\n2,x"\n3\n4,"b\n5,c",6\n'],
  ])("with %s is not read whole, since rows may be missing", async (_name, csv) => {
    const { outcome, bads } = await read({ "c.csv": csv }, { files: "c.csv" });
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.half-read" } });
    expect(bads.length).toBeGreaterThan(0);
  });

  it.each([
    ["the header twice", "id,id\n1,2\n", {}],
    ["a column __proto__", "id,__proto__\n1,2\n", {}],
    ["no column for the surplus", "id,name\n1,2\n", { csv: { surplusInto: "address" } }],
  ])("with %s is of the wrong shape", async (_name, csv, stream) => {
    const { outcome } = await read({ "c.csv": csv }, { files: "c.csv", ...stream });
    expect(outcome).toMatchObject({
      complete: false,
      rows: 0,
      problem: { code: "source.wrong-shape", place: "c.csv:1" },
    });
  });

  it("with repeated names is told names that the settings accept", async () => {
    const csv = "id,name,email,email_2,email,__proto__\n";
    const { cure = "" } = (await read({ "c.csv": csv }, { files: "c.csv" })).outcome.problem ?? {};
    expect(cure).toContain('"header":["id","name","email","email_2","email_3","__proto___2"]');
  });

  it.each(["", "id,name\n", "\uFEFFid,name"])("that holds only %j is read whole and has no rows", async (csv) => {
    expect((await read({ "c.csv": csv }, { files: "c.csv" })).outcome).toEqual({ complete: true, full: true, rows: 0 });
  });

  it.each([
    ["in the middle of a field", "id,name\n1,abc\n2,de", "\n", ["1"], "c.csv:3"],
    ["between two fields", "id,name\n1,abc\n2,", "\n", ["1"], "c.csv:3"],
    ["between the two characters of a line end", "id,name\r\n1,abc\r\n2,def\r", "\n", ["1"], "c.csv:3"],
    ["in the only row", "id,name\n1,ab", "\n", [], "c.csv:2"],
    ["in a file whose lines end with a carriage return alone", "id,name\r1,abc\r2,d", "\r", ["1"], "c.csv:3"],
  ])("that was cut %s is not read whole, and half a row is no row", async (_name, csv, lineEnd, ids, place) => {
    const cut = await read({ "c.csv": csv }, { files: "c.csv" });
    expect(cut.raws.map(({ value }) => value["id"])).toEqual(ids);
    expect(cut.bads).toEqual([]);
    expect(cut.outcome).toMatchObject({ complete: false, problem: { code: "source.half-read", place } });
    expect((await read({ "c.csv": `${csv}${lineEnd}` }, { files: "c.csv" })).outcome).toMatchObject({
      complete: true,
      rows: ids.length + 1,
    });
    const trusted = await read({ "c.csv": csv }, { files: "c.csv", csv: { lastLineEnd: "optional" } });
    expect(trusted.outcome).toMatchObject({ complete: true, rows: ids.length + 1 });
  });

  it("without a column that somebody reads gives no rows: a field that is gone would look empty", async () => {
    const { outcome } = await read({ "c.csv": "id,title\n1,a\n" }, { files: "c.csv" });
    expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code: "source.wrong-shape" } });
    expect(outcome.problem?.message).toBe(
      'The file c.csv has no column "name", which the configuration reads; it has "title", which nothing reads.',
    );
    const without = await read({ "c.csv": "1,Ann Lee\n2,Bob Ray\n" }, { files: "c.csv" });
    expect(without.outcome.problem?.message).not.toContain("Ann");
    const latin = Buffer.from("id,Stra\xdfe\n1,a\n", "latin1");
    const encoded = await read({ "c.csv": latin }, { files: "c.csv" });
    expect(encoded.outcome.problem?.message).toContain("another encoding than `encoding` says");
    const other = await read({ "c.csv": "id;name\n1;a\n" }, { files: "c.csv" });
    expect(other.outcome.problem?.message).toContain('one column with ";" in it, perhaps the delimiter');
    const optional = await read({ "c.csv": "id\n1\n" }, { files: "c.csv", csv: { optionalColumns: ["name"] } });
    expect(optional.outcome).toMatchObject({ complete: true, rows: 1 });
  });

  it("without a column that only a look-up reads gives no rows", async () => {
    const directory = directoryWith({ "c.csv": "id\n1\n", "t.csv": "code,name\nA,Alpha\n" });
    const source = openSource(
      {
        kind: "file",
        tables: { products: { files: "t.csv", key: "code", value: "name" } },
        streams: {
          staff: {
            files: "c.csv",
            mapping: {
              id: "id",
              customerId: { value: "C1" },
              userName: { value: "u" },
              name: { value: "n" },
              remark: { lookup: { table: "products", key: "product" } },
            },
          },
        },
      },
      directory,
    );
    const { outcome } = await readAll(source, "staff");
    expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code: "source.wrong-shape" } });
    expect(outcome.problem?.message).toContain('no column "product"');
  });

  it("comes in batches that are not larger than was asked for by much, and all of it", async () => {
    const rows = Array.from({ length: 1_000 }, (_, index) => `${index},n\n`).join("");
    const reading = await read({ "c.csv": `id,name\n${rows}` }, { files: "c.csv" }, 100);
    expect(reading.raws).toHaveLength(1_000);
    expect(Math.max(...reading.batches)).toBeLessThanOrEqual(101);
  });
});

describe("an encoding", () => {
  it.each([
    ["windows-1252", Buffer.from("id,name\n1,M\u00fcller \u0080\n", "latin1"), "Müller €"],
    ["latin1", Buffer.from("id,name\n1,M\u00fcller\n", "latin1"), "Müller"],
    ["utf-16le", Buffer.from("\uFEFFid,name\n1,Müller 日本\n", "utf16le"), "Müller 日本"],
    ["utf-8", Buffer.from("\uFEFFid,name\n1,Müller 日本\n", "utf8"), "Müller 日本"],
    ["shift_jis", Buffer.concat([Buffer.from("id,name\n1,"), Buffer.from([0x93, 0xfa, 0x96, 0x7b, 10])]), "日本"],
  ])("%s is read as declared, the byte order mark left out", async (encoding, bytes, name) => {
    expect(values(await read({ "c.csv": bytes }, { files: "c.csv", encoding }))).toEqual([{ id: "1", name }]);
  });

  it(
    "that is not UTF-8 after all makes a bad record of each row it stands in, and the reading incomplete",
    { tags: "long" },
    async () => {
      const rows = Array.from({ length: 50_000 }, (_, index) =>
        Buffer.from(`${index},Müller\n`, index % 10_000 === 5 ? "latin1" : "utf8"),
      );
      const csv = await read({ "c.csv": Buffer.concat([Buffer.from("id,name\n"), ...rows]) }, { files: "c.csv" });
      expect(csv.bads.map(({ place, code }) => [place, code])).toEqual(
        [5, 10_005, 20_005, 30_005, 40_005].map((index) => [`c.csv:${index + 2}`, "wrong-encoding"]),
      );
      expect(csv.raws).toHaveLength(49_995);
      expect(csv.outcome).toMatchObject({ complete: false, problem: { code: "source.wrong-encoding" } });
      const lines = await read(
        { "c.ndjson": Buffer.from('{"id":1}\n{"id":"\u00fc"}\n{"id":3}\n', "latin1") },
        { files: "c.ndjson" },
      );
      expect(lines.bads).toMatchObject([{ place: "c.ndjson:2", code: "wrong-encoding" }]);
      const list = await read(
        { "c.json": Buffer.from('[{"id":1},{"id":2,"name":"\u00c3("},{"id":3}]', "latin1") },
        { files: "c.json" },
      );
      expect(list.outcome.problem).toMatchObject({ code: "source.wrong-shape", place: "c.json#/1" });
    },
  );

  it("that has no such byte is a problem with its line, as is UTF-16 declared as UTF-8", async () => {
    const sjis = await read(
      { "c.csv": Buffer.concat([Buffer.from("id\n1\n"), Buffer.from([0xff, 0xff])]) },
      { files: "c.csv", encoding: "shift_jis" },
    );
    expect(sjis.outcome.problem).toMatchObject({ code: "source.wrong-encoding" });
    const utf16 = await read({ "c.csv": Buffer.from("\uFEFFid\n1\n", "utf16le") }, { files: "c.csv" });
    expect(utf16.outcome.problem).toMatchObject({ code: "source.wrong-encoding", cure: "Set `encoding: utf-16le`." });
  });

  it.each([
    ["windows-1252", "id,name\n1,a\n2,Müller\n", "c.csv:3", 16],
    ["iso-8859-15", "\uFEFFid,name\n1,a\n", "c.csv:1", 1],
    ["koi8-r", "id,name\n1,Москва\n", "c.csv:2", 11],
    ["gbk", `id,name\n${"1,日本日本\n".repeat(3)}`, "c.csv:2", 11],
  ])(
    "%s of a file that is UTF-8 is refused before any row, with the first such place",
    async (encoding, text, place, byte) => {
      for (const name of ["c.csv", "c.csv.gz"]) {
        const bytes = name === "c.csv" ? Buffer.from(text) : gzipSync(text);
        const { outcome } = await read({ [name]: bytes }, { files: name, encoding });
        expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code: "source.wrong-encoding" } });
        expect(outcome.problem?.place).toBe(place.replace("c.csv", name));
        expect(outcome.problem?.message).toContain(
          `is UTF-8: line ${place.split(":")[1]} (byte ${byte}) shows this first`,
        );
      }
    },
  );

  it.each([
    ["without a character beyond ASCII", Buffer.from("id,name\n1,a\n")],
    ["with one byte that is no UTF-8", Buffer.from(`id,name\n${"1,Ã¼\n".repeat(100_000)}2,ü\n`, "latin1")],
  ])("of single bytes is believed of a file %s", async (_how, bytes) => {
    const { outcome } = await read({ "c.csv": bytes }, { files: "c.csv", encoding: "windows-1252" });
    expect(outcome.complete).toBe(true);
  });

  it("that nobody knows is refused by the settings", () => {
    expect(() => openSource(customersFile({ files: "c.csv", encoding: "utf-9" }), ".")).toThrow("utf-9");
  });
});

describe("an NDJSON file", () => {
  it("gives a record for each line and a bad one for each line that is none", async () => {
    const reading = await read(
      { "c.ndjson": '{"id":1}\n\n{"id":\n[1]\r\n{"id":9007199254740993}' },
      { files: "c.ndjson", key: "id" },
    );
    expect(reading.raws).toEqual([
      { place: "c.ndjson:1", key: "1", value: { id: 1 } },
      { place: "c.ndjson:5", key: "9007199254740993", value: { id: "9007199254740993" } },
    ]);
    expect(reading.bads).toMatchObject([
      { place: "c.ndjson:3", code: "not-json", text: '{"id":' },
      { place: "c.ndjson:4", code: "not-an-object" },
    ]);
    expect(reading.outcome).toEqual({ complete: true, full: true, rows: 4 });
  });

  it("that ends in the middle of a line is not read whole", async () => {
    const { raws, outcome } = await read({ "c.ndjson": '{"id":1}\n{"id":2' }, { files: "c.ndjson" });
    expect(raws).toHaveLength(1);
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.half-read" } });
  });

  it.each([
    ['{"id":1}\n{"id":2}\n{"count":2}\n', 2, true],
    ['{"id":1}\n{"count":2}\n', 1, false],
    ['{"id":1}\n{"id":2}\n', 2, false],
    ['{"count":0}\n', 0, true],
    ["", 0, false],
  ])("%j with a trailer has %i records and is whole: %s", async (text, rows, complete) => {
    const { outcome, raws } = await read({ "c.ndjson": text }, { files: "c.ndjson", completeWhen: { count: "count" } });
    expect([raws.length, outcome.rows, outcome.complete]).toEqual([rows, rows, complete]);
    if (!complete) expect(outcome.problem?.code).toBe("source.not-as-marked");
  });

  it("passes over a line larger than the limit", async () => {
    const { raws, bads } = await read(
      { "c.ndjson": `{"id":1}\n{"id":"${"x".repeat(2_000_000)}"}\n{"id":3}\n` },
      { files: "c.ndjson", limits: { maxBytes: 1_000_000 } },
    );
    expect(raws.map(({ value }) => value["id"])).toEqual([1, 3]);
    expect(bads).toMatchObject([{ place: "c.ndjson:2", code: "too-large" }]);
  });
});

describe("a JSON file", () => {
  it("is a list, or has one at a path, with lists before and after it", async () => {
    const list = [
      { id: 1, tags: [[]] },
      { id: 2, name: 'ü\\"日[{' },
    ];
    expect(values(await read({ "c.json": JSON.stringify(list) }, { files: "c.json" }))).toEqual(list);
    const nested = JSON.stringify(
      { items: 1, data: { before: [{ items: [{}] }], items: list, after: [{}] }, items2: [{}] },
      null,
      2,
    );
    const reading = await read({ "c.json": nested }, { files: "c.json", records: "data.items" });
    expect(values(reading)).toEqual(list);
    expect(places(reading)).toEqual(["c.json#/data/items/0", "c.json#/data/items/1"]);
    expect(reading.outcome).toEqual({ complete: true, full: true, rows: 2 });
  });

  it("larger than one chunk keeps every record, wherever the chunks end", { tags: "long" }, async () => {
    const list = Array.from({ length: 20_000 }, (_, index) => ({
      id: index,
      name: `Grüße ${"日".repeat(index % 7)} \\ " ${index}`,
      deep: { a: [index, { b: null }] },
    }));
    const reading = await read({ "c.json.gz": gzipSync(JSON.stringify(list)) }, { files: "c.json.gz" });
    expect(values(reading)).toEqual(list);
  });

  it("keeps the good elements among bad ones", async () => {
    const reading = await read(
      { "c.json": '[{"id":1},null,"x",{"id":2,"id":3},[{"id":4}],{"id":12345678901234567890}]' },
      { files: "c.json" },
    );
    expect(values(reading)).toEqual([{ id: 1 }, { id: "12345678901234567890" }]);
    expect(reading.bads.map(({ place, code }) => [place, code])).toEqual([
      ["c.json#/1", "not-an-object"],
      ["c.json#/2", "not-an-object"],
      ["c.json#/3", "duplicate-member"],
      ["c.json#/4", "not-an-object"],
    ]);
    expect(reading.outcome).toMatchObject({ complete: true, rows: 6 });
  });

  it.each([
    ["that is cut off", '[{"id":1},{"id":2},{"id"', "source.half-read"],
    ["that is empty", "", "source.half-read"],
    ["that is no JSON", '[{"id":1},{"id":2},{id:3}]', "source.wrong-shape"],
    ["with something after its end", '[{"id":1},{"id":2}] []', "source.wrong-shape"],
    ["without a list", '{"id":1}', "source.wrong-shape"],
  ])("%s is not read whole", async (_name, text, code) => {
    const { outcome } = await read({ "c.json": text }, { files: "c.json" });
    expect(outcome).toMatchObject({ complete: false, problem: { code } });
  });
});

describe("files that are not as they should be", () => {
  it("are named when they are missing, and nothing is read", async () => {
    const source = openSource(customersFile({ files: "customers.csv" }), directoryWith({}));
    const { outcome } = await readAll(source, "customers");
    expect(outcome).toMatchObject({
      complete: false,
      full: true,
      rows: 0,
      problem: { code: "source.missing-file", exitCode: 7 },
    });
    expect(outcome.problem?.message).toContain("customers.csv is missing");
    expect(await source.check()).toMatchObject({ code: "source.missing-file" });
    expect((await read({}, { files: "export-*.csv" })).outcome.problem?.message).toBe("No file matches export-*.csv.");
  });

  it("are half read when their compression is cut off, without the row that may be half", async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => ({ id: `${index}`, name: `${Math.sin(index)}` }));
    const bytes = gzipSync(`id,name\n${rows.map(({ id, name }) => `${id},${name}`).join("\n")}\n`);
    const reading = await read({ "c.csv.gz": bytes.subarray(0, bytes.length >> 1) }, { files: "c.csv.gz" });
    expect(reading.outcome).toMatchObject({ complete: false, problem: { code: "source.half-read" } });
    expect(values(reading)).toEqual(rows.slice(0, reading.raws.length));
    const none = await read({ "c.csv": "id\n1\n" }, { files: "c.csv", gzip: true });
    expect(none.outcome.problem?.message).toContain("is not valid gzip");
  });

  it("are not read before their marker is there", async () => {
    const stream = { files: "c.csv", completeWhen: { file: "{file}.done" } };
    expect((await read({ "c.csv": "id,name\n1,a\n" }, stream)).outcome).toMatchObject({
      complete: false,
      rows: 0,
      problem: { code: "source.half-written" },
    });
    expect((await read({ "c.csv": "id,name\n1,a\n", "c.csv.done": "" }, stream)).outcome).toMatchObject({
      complete: true,
      rows: 1,
    });
  });

  it.each([
    ["c.csv", "id,name\n1,a\n\n2,b\n"],
    ["c.ndjson", '{"id":1}\n{"id":2}\n'],
    ["c.json", '[{"id":1},{"id":2}]'],
    ["c.csv.gz", gzipSync("id,name\n1,a\n2,b\n")],
  ])("are compared with what their marker says, as %s", async (name, bytes) => {
    const hash = createHash("sha256").update(bytes).digest("hex");
    for (const [contains, value, complete, rows] of [
      ["rows", "2", true, 2],
      ["rows", "3", false, 2],
      ["sha256", hash.toUpperCase(), true, 2],
      ["sha256", hash.replace(/^./u, (digit) => (digit === "0" ? "1" : "0")), false, 0],
    ] as const) {
      const files = { [name]: bytes, all: `${value}  ${name}\n1 other.csv\n` };
      const { outcome } = await read(files, { files: name, completeWhen: { file: "all", contains } });
      expect([contains, outcome.complete, outcome.rows]).toEqual([contains, complete, rows]);
    }
  });

  it("are not read whole when they grow meanwhile", { tags: "long" }, async () => {
    const directory = directoryWith({ "c.ndjson": '{"id":1}\n'.repeat(100_000) });
    const source = openSource(customersFile({ files: "c.ndjson" }), directory);
    const reading = source.read("customers", {});
    await reading.next();
    appendFileSync(join(directory, "c.ndjson"), '{"id":2}\n');
    let next = await reading.next();
    while (next.done !== true) next = await reading.next();
    expect(next.value).toMatchObject({ complete: false, problem: { code: "source.changed-while-read" } });
  });

  it("do not keep the others of their stream from being read", async () => {
    const files = { "a.csv": "id,name\n1,a\n", "b.csv": "id,id\n2,2\n", "c.csv": "id,name\n3,c\n" };
    const reading = await read(files, { files: ["*.csv"] });
    expect(places(reading)).toEqual(["a.csv:2", "c.csv:2"]);
    expect(reading.outcome).toMatchObject({
      complete: false,
      problem: { code: "source.wrong-shape", place: "b.csv:1" },
    });
  });

  it("are read in order of their names, each once", async () => {
    const files = { "x-2.csv": "id,name\n2,b\n", "x-1.csv": "id,name\n1,a\n", "x-10.csv": "id,name\n10,j\n" };
    expect(places(await read(files, { files: ["x-2.csv", "x-*.csv"] }))).toEqual([
      "x-1.csv:2",
      "x-10.csv:2",
      "x-2.csv:2",
    ]);
  });

  it("stop being read when the reading is aborted", async () => {
    const directory = directoryWith({});
    writeFileSync(join(directory, "c.csv"), `id,name\n${"1,a\n".repeat(500_000)}`);
    const stop = new AbortController();
    const reading = openSource(customersFile({ files: "c.csv" }), directory).read("customers", { signal: stop.signal });
    await reading.next();
    stop.abort(new Error("SIGTERM"));
    await expect(reading.next()).rejects.toThrow("SIGTERM");
  });
});

describe("settings of a source", () => {
  it("that name no stream, or details without a key, are refused", () => {
    expect(() => openSource({ kind: "file", streams: {} }, ".")).toThrow("at least one of customers, orders, staff");
    expect(() =>
      openSource(customersFile({ files: "c.csv", details: { lines: { files: "l.csv", key: "id" } } }), "."),
    ).toThrow("missing");
  });
});

it("a file that was left in its middle is closed, packed and joined ones too", { tags: "long" }, async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => `${index},Name ${index}\n`).join("");
  const directory = directoryWith({ "c.csv": `id,name\n${rows}`, "c.csv.gz": gzipSync(`id,name\n${rows}`) });
  const details = { lines: { files: "c.csv", key: "id" } };
  for (const stream of [{ files: "c.csv" }, { files: "c.csv.gz" }, { files: "c.csv", details }]) {
    const source = openSource(customersFile({ ...stream, key: "id" }), directory);
    const reading = source.read("customers", { batchSize: 10 });
    await reading.next();
    await reading.return({ complete: false, full: true, rows: 0 });
    await expect.poll(() => openFiles(directory)).toEqual([]);
  }
});
