import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { mostBeside, workInLanes } from "../../src/base/lanes.ts";

const going = () => false;

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item[], void, void> {
  for (const item of items) yield [item];
}

it("takes so many at once as there are lanes, and each of them once", async () => {
  const [done, counts] = [[] as number[], { now: 0, most: 0 }];
  await workInLanes(each([1, 2, 3, 4, 5, 6, 7]), { lanes: 3, stopped: going }, async (item) => {
    counts.most = Math.max(counts.most, (counts.now += 1));
    await turn();
    counts.now -= 1;
    done.push(item);
  });
  expect(done.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(counts).toEqual({ now: 0, most: 3 });
});

it("one that takes long holds up nothing but its own lane", async () => {
  const long = Promise.withResolvers<void>();
  const done: number[] = [];
  const all = workInLanes(each([1, 2, 3, 4, 5]), { lanes: 2, stopped: going }, async (item) => {
    if (item === 1) await long.promise;
    done.push(item);
    if (done.length === 4) long.resolve();
  });
  await all;
  expect(done).toEqual([2, 3, 4, 5, 1]);
});

it("a lane goes on beside work that calls it free, and all of it has ended in the end", async () => {
  const disk = Promise.withResolvers<void>();
  const [begun, done] = [[] as number[], [] as number[]];
  const all = workInLanes(each([1, 2, 3]), { lanes: 1, stopped: going }, async (item, free) => {
    begun.push(item);
    free();
    await disk.promise;
    done.push(item);
  });
  let over = false;
  void all.then(() => (over = true));
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(begun).toEqual([1, 2, 3]);
  expect([done, over]).toEqual([[], false]);
  disk.resolve();
  await all;
  expect(done).toEqual([1, 2, 3]);
});

it("begins no more than so many that only wait for the disk, so that memory stays flat and the event loop turns", async () => {
  const counts = { now: 0, most: 0, done: 0, turns: 0 };
  const turning = setInterval(() => (counts.turns += 1));
  const items = Array.from({ length: 5_000 }, (_, index) => index);
  await workInLanes(each(items), { lanes: 4, stopped: going }, async (_, free) => {
    counts.most = Math.max(counts.most, (counts.now += 1));
    free();
    await turn();
    counts.now -= 1;
    counts.done += 1;
  });
  clearInterval(turning);
  expect(counts.done).toBe(5_000);
  expect(counts.most).toBeLessThanOrEqual(mostBeside + 2 * 4);
  expect(counts.turns).toBeGreaterThan(0);
});

it("throws what a piece of work threw, while others still go on, and takes nothing more", async () => {
  const long = Promise.withResolvers<void>();
  const begun: number[] = [];
  const all = workInLanes(each([1, 2, 3, 4]), { lanes: 2, stopped: going }, async (item) => {
    begun.push(item);
    if (item === 1) await long.promise;
    else throw new Error("the disk is full");
  });
  await expect(all).rejects.toThrow("the disk is full");
  long.resolve();
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(begun).toEqual([1, 2]);
});

it("throws what comes up after its lane was free", async () => {
  const all = workInLanes(each([1, 2]), { lanes: 1, stopped: going }, async (item, free) => {
    free();
    for (let turns = 0; turns < item; turns += 1) await turn();
    if (item === 1) throw new Error("the commit failed");
  });
  await expect(all).rejects.toThrow("the commit failed");
});

it("takes nothing more once it is stopped", async () => {
  const begun: number[] = [];
  await workInLanes(each([1, 2, 3]), { lanes: 1, stopped: () => begun.length === 2 }, async (item) => {
    begun.push(item);
  });
  expect(begun).toEqual([1, 2]);
});

it("throws what the reading of the next one threw", async () => {
  async function* broken(): AsyncGenerator<number[], void, void> {
    yield [1];
    throw new Error("the ledger is damaged");
  }
  await expect(workInLanes(broken(), { lanes: 2, stopped: going }, async () => {})).rejects.toThrow("damaged");
});

it("takes an item only when a lane is free, and none at all if it is stopped before", async () => {
  let asked = 0;
  const done: number[] = [];
  async function* counted(): AsyncGenerator<number[], void, void> {
    for (const item of [1, 2, 3]) {
      asked += 1;
      yield [item];
    }
  }
  await workInLanes(counted(), { lanes: 1, stopped: () => true }, async () => {});
  expect(asked).toBe(0);
  await workInLanes(counted(), { lanes: 1, stopped: going }, async (item) => {
    await turn();
    expect(asked).toBe(item);
    done.push(item);
  });
  expect(done).toEqual([1, 2, 3]);
});

it("throws the first error at once, although the next item is long in coming, and fails too", async () => {
  const long = Promise.withResolvers<void>();
  async function* items(): AsyncGenerator<number[], void, void> {
    yield [1];
    await long.promise;
    throw new Error("reading");
  }
  const all = workInLanes(items(), { lanes: 2, stopped: going }, async () => {
    throw new Error("first");
  });
  await expect(all).rejects.toThrow("first");
  long.resolve();
  await turn();
});

it("does not begin the item that was on its way when it was stopped", async () => {
  let stop = false;
  const begun: number[] = [];
  async function* items(): AsyncGenerator<number[], void, void> {
    yield [1];
    stop = true;
    yield [2];
  }
  await workInLanes(items(), { lanes: 2, stopped: () => stop }, async (item) => void begun.push(item));
  expect(begun).toEqual([1]);
});

it("throws what work throws before it begins, and tells the work beside it nothing of that", async () => {
  const free = Promise.withResolvers<void>();
  let isTold = false;
  const all = workInLanes([[1, 2]], { lanes: 1, stopped: going }, (item, freed) => {
    if (item === 2) throw new Error("at once");
    return free.promise.then(freed).catch(() => void (isTold = true));
  });
  free.resolve();
  await expect(all).rejects.toThrow("at once");
  expect(isTold).toBe(false);
});
