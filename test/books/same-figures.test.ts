import { describe, expect, it } from "vitest";
import { firstDifference } from "../../src/books/same-figures.ts";

const header = (fields: object = {}): string =>
  `{"header":${JSON.stringify({ auditHead: { root: "a" }, program: "0.1.0", title: "Orders", version: 1, ...fields })},`;

/** A statement on its lines, in chunks that end anywhere, also within a character. */
async function* chunksOf(size: number, ...lines: string[]): AsyncGenerator<Buffer, void, void> {
  const bytes = Buffer.from(`${lines.join("\n")}\n`);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const row = '{"amount":"5.94","product":"Größe 漢字"}';
const frozen = [header(), '"rows":[', row, row, "]}"];

async function compared(now: readonly string[], kept: readonly string[] = frozen) {
  const all = [1, 7, 1_000].map((size) => firstDifference(chunksOf(size, ...kept), chunksOf(8 - (size % 8), ...now)));
  const [first, ...others] = await Promise.all(all);
  for (const other of others) expect(other).toEqual(first);
  return first;
}

describe("two statements", () => {
  it("are the same where only another program made one of them", async () => {
    expect(await compared(frozen)).toBeUndefined();
    expect(await compared([header({ program: "0.2.0" }), ...frozen.slice(1)])).toBeUndefined();
  });

  it("differ in the first line that says something else, that of what they were made from too", async () => {
    const other = row.replace("5.94", "5.95");
    expect(await compared(frozen.with(3, other))).toEqual({ line: 4, frozen: row, now: other });
    expect(await compared(frozen.with(2, other).with(3, other))).toMatchObject({ line: 3 });
    const ofOtherRoot = header({ auditHead: { root: "b" } });
    expect(await compared(frozen.with(0, ofOtherRoot))).toEqual({ line: 1, frozen: header(), now: ofOtherRoot });
  });

  it("are the same where the frozen header does not have all that is said by now", async () => {
    const more = header({ auditHead: { at: "2026-11-01", root: "a" }, colour: "red" });
    expect(await compared(frozen.with(0, more))).toBeUndefined();
    expect(await compared(frozen, frozen.with(0, more))).toEqual({ line: 1, frozen: more, now: header() });
  });

  it.each<[string, object, object]>([
    ["text", { title: "Orders" }, { title: "Order" }],
    ["member of a member", { auditHead: { at: "1", root: "a" } }, { auditHead: { at: "2", root: "a" } }],
    ["member that is gone", { ledger: null }, {}],
    ["member of a member that is gone", { auditHead: { at: "1", root: "a" } }, {}],
    ["value that is of another type", { size: 1 }, { size: "1" }],
    ["list", { sources: ["a"] }, { sources: ["a", "b"] }],
    ["thing that was not there", { auditHead: null }, {}],
    ["thing that is not there any more", {}, { auditHead: null }],
    ["currency that is tolerated since", { tolerances: { money: {} } }, { tolerances: { money: { EUR: "1.00" } } }],
  ])("differ in their headers by a %s", async (_what, then, now) => {
    const [kept, made] = [header(then), header(now)];
    expect(await compared(frozen.with(0, made), frozen.with(0, kept))).toEqual({ line: 1, frozen: kept, now: made });
  });

  it("are the same whichever key signed the head, and where none did by now", async () => {
    const signed = (checkpoint: string | undefined): string => header({ auditHead: { checkpoint, root: "a" } });
    for (const now of ["by another", undefined])
      expect(await compared(frozen.with(0, signed(now)), frozen.with(0, signed("by one")))).toBeUndefined();
  });

  it("differ in a first line that is no header, also where another program made it", async () => {
    for (const broken of ["", '{"header":', '{"header":[],'])
      expect(await compared(frozen.with(0, broken))).toMatchObject({ frozen: header(), now: broken });
  });

  it("differ where one of them ends before the other", async () => {
    expect(await compared(frozen.slice(0, -1))).toEqual({ line: 5, frozen: "]}", now: "" });
    expect(await compared([...frozen, row])).toEqual({ line: 6, frozen: "", now: row });
  });

  it("are not compared where their columns are of another version", async () => {
    expect(await compared([header({ version: 2 }), ...frozen.slice(1)])).toBe("another version");
  });
});
