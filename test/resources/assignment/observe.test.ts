import { describe, expect, it } from "vitest";
import { assignment } from "../../../src/resources/assignment/index.ts";
import {
  assignment as assigned,
  fixed,
  member,
  people,
  shown,
  situation,
  staff,
  type Situation,
} from "../../engine/situation.ts";

const claims = (...numbers: string[]) => ({ assets: numbers.map((assetNumber) => ({ assetNumber })) });

function adopted(person: ReturnType<typeof staff>, known: Situation["known"], holders: Record<string, string | null>) {
  const given = situation(people({ staff: [person], known: known ?? {} }));
  const { assets = [] } = shown(["ann", "old"], holders);
  const { globalId, assetNums } = member("ann");
  return assignment.adopt(given, { person, member: { globalId, assetNums }, assets });
}

describe("what a reading shows of the assets of a person", () => {
  it("an asset that an earlier account still holds by our doing is not given back", () => {
    const ann = staff("ann");
    const read = adopted(ann, { assignments: [assigned(ann, "N1", { memberGlobalId: "M-old" })] }, { N1: "old" });
    expect(read.changes).toEqual([]);
    expect(read.otherwise).toEqual(["M6 shows that the person still holds the asset N1, with the account M-old"]);
  });

  it("a number and the instance with only this number are one asset", () => {
    const both = staff("ann", { assets: [{ instanceId: "i" }, { assetNumber: "N1" }, { assetNumber: "N1" }] });
    const read = adopted(both, { numbers: fixed("1", "i", "N1") }, { N1: "ann" });
    expect([read.otherwise, read.unseen, read.seen]).toEqual([[], [], ["the asset N1"]]);
  });

  it("a claim of a number comes before one of an instance that has two", () => {
    const both = staff("ann", { assets: [{ instanceId: "i" }, { assetNumber: "N1" }] });
    const read = adopted(both, { numbers: fixed("1", "i", "N1", "N2") }, { N1: "ann", N2: "ann" });
    expect([read.otherwise, read.seen]).toEqual([[], ["the asset N1", "the asset N2"]]);
    expect(adopted(staff("ann", claims("N2")), {}, { N2: "ann" }).changes).toHaveLength(1);
  });
});
