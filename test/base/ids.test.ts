import { describe, expect, it } from "vitest";
import { createIds, sortedAfter, systemRandomness } from "../../src/base/ids.ts";

describe("the randomness of the system", () => {
  it("gives as many bytes as are asked for, and never the same ones twice", () => {
    const lengths = [16, 3, 1, 32, 4095, 4096, 5000];
    for (const length of lengths)
      expect(systemRandomness.hex(length)).toMatch(new RegExp(`^[0-9a-f]{${length * 2}}$`, "u"));
    const drawn = Array.from({ length: 5_000 }, () => systemRandomness.hex(16));
    expect(new Set(drawn).size).toBe(drawn.length);
    // No two neighbours share bytes either, as they would where a block was read at overlapping places.
    expect(drawn.some((text, index) => index > 0 && text.slice(0, 16) === drawn[index - 1]?.slice(16))).toBe(false);
  });
});

describe("ids", () => {
  it("sort in the order in which they were made, also where the clock goes back", () => {
    const times = [1_000, 1_000, 2_000, 1_500, 3_000];
    const ids = createIds(() => times.shift() ?? 3_000, systemRandomness);
    const made = Array.from({ length: 6 }, () => ids.next("op"));
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });

  it("sort after those of an earlier program whose clock was ahead, where they are asked to", () => {
    const newest = createIds(() => 1_790_000_000_000, systemRandomness).next("run");
    const behind = createIds(() => 1_780_000_000_000, systemRandomness);
    const made = [behind.next("run"), behind.next("run"), behind.next("run")];
    const sorted: string[] = [newest];
    for (const id of made) sorted.push(sortedAfter(id, sorted.at(-1)));
    expect(sorted.toSorted()).toEqual(sorted);
    expect(new Set(sorted.map((id) => id.length)).size).toBe(1);
    expect(sortedAfter(newest, made[0])).toBe(newest);
    expect(sortedAfter("run_z", undefined)).toBe("run_z");
  });
});
