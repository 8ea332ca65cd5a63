import { expect, it } from "vitest";
import { ReadingWorld } from "../support/world/reading-world.ts";

async function inParts(change: (w: ReadingWorld) => void): Promise<{ w: ReadingWorld; before: Map<string, string> }> {
  const w = await ReadingWorld.open(10);
  w.massChange = { floor: 20 };
  w.add(60);
  await w.read();
  const before = new Map(w.desired());
  change(w);
  for (let part = 0; part < 5; part += 1) {
    w.cut = { how: "down", after: 1 };
    await w.read();
  }
  w.cut = undefined;
  await w.read();
  return { w, before };
}

it("ids that changed in all records are not believed where the reading is cut after each page", async () => {
  const { w, before } = await inParts(({ rows }) => {
    const all = [...rows];
    rows.clear();
    for (const [id, row] of all) rows.set(id.toLowerCase(), { ...row, branch: "Lost" });
  });
  expect(w.desired()).toEqual(before);
});

it("a list of which something changed is read to its end though each run is stopped", async () => {
  const w = await ReadingWorld.open(10);
  w.add(60);
  await w.read();
  for (const [id, row] of w.rows) if (id < "C0003") w.rows.set(id, { ...row, branch: "changed" });
  for (let run = 0; run < 6; run += 1) {
    w.cut = { how: "stopped", after: 3 };
    await w.read();
  }
  expect(w.desired()).toEqual(w.listed());
});
