import { expect, it } from "vitest";
import { ReadingWorld } from "../support/world/reading-world.ts";

/** A list of customers whose branch the mapping reads, read whole once. */
async function readOnce(pageSize = 5, customers = 60): Promise<ReadingWorld> {
  const w = await ReadingWorld.open(pageSize);
  const mapping = w.source.mapping.bind(w.source);
  const reads = { reads: [["branch"]], hashed: [], deciding: [], isCondition: false };
  const way = { field: "branchName", kind: undefined, expression: "branch", at: ["branchName"], ...reads };
  w.source.mapping = async (stream) => ({ ...(await mapping(stream)), ways: () => [way] });
  w.add(customers);
  expect((await w.read())?.problem).toBeUndefined();
  return w;
}

/** The CRM gives the branch under another name. */
function rename(w: ReadingWorld): void {
  for (const row of w.rows.values()) Object.assign(row, { branch: null });
}

it("a source that looks otherwise is told of by each run, also where its first page was taken before that was seen", async () => {
  const w = await readOnce();
  rename(w);
  for (let run = 0; run < 3; run += 1) {
    const tally = await w.read();
    expect([tally?.complete, tally?.problem?.code]).toEqual([false, "source.drifted"]);
  }
});

it("the part of a reading that goes on is looked at too", async () => {
  const w = await readOnce(20);
  w.cut = { how: "down", after: 1 };
  expect((await w.read())?.complete).toBe(false);
  rename(w);
  expect((await w.read())?.problem?.code).toBe("source.drifted");
});

it("three rows are enough where each had the field, however they are paged, and two are not", async () => {
  for (const [customers, code] of [
    [3, "source.drifted"],
    [2, undefined],
  ] as const) {
    const w = await readOnce(1, customers);
    rename(w);
    expect((await w.read())?.problem?.code).toBe(code);
  }
});
