import { expect, it } from "vitest";
import { readingPlatform } from "../../src/platform/platform.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";

const reads = [
  "findCustomers",
  "listVirtualAssets",
  "listStaff",
  "listAssetNumbers",
  "listAssetContents",
  "listBorrowedLocks",
];

it("a platform that only reads has every call, and refuses each one that writes before anything is sent", async () => {
  const world = await ApplyWorld.start();
  const { platform } = world.deps;
  const reading = readingPlatform(platform);
  const before = world.sandbox.counts().writingCalls;
  let refused = 0;
  for (const service of ["orderService", "memberCenter"] as const) {
    const calls = Object.entries(reading[service]);
    expect(calls.map(([name]) => name).sort()).toEqual(Object.keys(platform[service]).sort());
    for (const [name, call] of calls) {
      if (reads.includes(name)) continue;
      refused += 1;
      expect(() => Reflect.apply(call, undefined, []), name).toThrow("only readings are made");
    }
  }
  expect(refused).toBe(13);
  expect(world.sandbox.counts().writingCalls).toBe(before);
});
