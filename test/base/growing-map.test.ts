import * as fc from "fast-check";
import { expect, it } from "vitest";
import { GrowingMap } from "../../src/base/growing-map.ts";

const key = fc.constantFrom("a", "b", "c", "d");
const steps = fc.array(fc.record({ from: fc.nat(), entries: fc.array(fc.tuple(key, fc.nat(99)), { maxLength: 3 }) }), {
  maxLength: 12,
});

it("every version of a growing map holds what a map of its own would hold, whichever of them grew", () => {
  const empty = GrowingMap.empty<string, number>();
  fc.assert(
    fc.property(steps, (sequence) => {
      const grown = [{ map: empty, expected: new Map<string, number>() }];
      for (const { from, entries } of sequence) {
        const base = grown[from % grown.length];
        if (base === undefined) throw new Error("a version");
        grown.push({ map: base.map.with(entries), expected: new Map([...base.expected, ...entries]) });
      }
      for (const { map, expected } of grown) {
        expect([...map]).toEqual([...expected]);
        expect([...map.keys()]).toEqual([...expected.keys()]);
        expect([...map.values()]).toEqual([...expected.values()]);
        expect(map.size).toBe(expected.size);
        for (const name of ["a", "b", "c", "d"])
          expect([map.has(name), map.get(name)]).toEqual([expected.has(name), expected.get(name)]);
      }
    }),
    { seed: 20_261_122 },
  );
});
