import { describe, expect, it } from "vitest";
import { commonSuffix, matchAddedStaff } from "../../../src/resources/staff/profile.ts";
import { addedStaffSchema } from "../../../src/contract/member-center.ts";
import { key } from "../../support/world/records.ts";

const sent = [
  { key: key("S1"), userName: "ann" },
  { key: key("S2"), userName: "bob" },
];
const row = (userName: string) => addedStaffSchema.parse({ globalId: `g-${userName}`, userName });
const refused = (userName: string) => ({ userName, message: "no" });

function match(succeeded: string[], failed: string[] = [], code?: string) {
  return matchAddedStaff(sent, { succeeded: succeeded.map(row), failed: failed.map(refused) }, code);
}

describe("an answer of M1", () => {
  it("is tied to the people that were sent, in whatever order, and teaches the enterprise code", () => {
    expect(match(["bob01", "ann01"])).toEqual({
      added: [
        { key: key("S2"), globalId: "g-bob01" },
        { key: key("S1"), globalId: "g-ann01" },
      ],
      refused: [],
      code: "01",
    });
  });

  it("names those who were refused, bare or with the code", () => {
    const expected = { added: [{ key: key("S1") }], refused: [{ key: key("S2"), message: "no" }] };
    expect(match(["ann01"], ["bob"])).toMatchObject(expected);
    expect(match(["ann01"], ["bob01"])).toMatchObject(expected);
  });

  it.each<[string, string[], string[]]>([
    ["somebody is missing", ["ann01"], []],
    ["somebody is there twice", ["ann01", "bob01", "ann01"], []],
    ["somebody was added and refused", ["ann01", "bob01"], ["ann"]],
    ["somebody was refused twice", ["ann01"], ["bob", "bob01"]],
    ["somebody is there who was not sent", ["ann01", "bob01", "eve01"], []],
    ["the suffixes differ", ["ann01", "bob02"], []],
  ])("proves nothing where %s", (_what, succeeded, failed) => {
    expect(match(succeeded, failed)).toBeUndefined();
  });

  it("proves nothing where its suffix is not the code that is known", () => {
    expect(match(["ann01", "bob01"], [], "02")).toBeUndefined();
  });
});

describe("the suffix of account names", () => {
  it("is not guessed where two would fit", () => {
    expect(commonSuffix(["ann", "annx"], ["annxx"], undefined)).toBeUndefined();
    expect(commonSuffix(["ann", "annx"], ["annxx"], "x")).toBe("x");
  });
});
