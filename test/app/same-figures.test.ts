import { describe, expect, it } from "vitest";
import { firstDifference } from "../../src/app/same-figures.ts";

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

  it("differ where one of them ends before the other", async () => {
    expect(await compared(frozen.slice(0, -1))).toEqual({ line: 5, frozen: "]}", now: "" });
    expect(await compared([...frozen, row])).toEqual({ line: 6, frozen: "", now: row });
  });

  it("are not compared where their columns are of another version", async () => {
    expect(await compared([header({ version: 2 }), ...frozen.slice(1)])).toBe("another version");
  });
});
