import { expect, it } from "vitest";
import { whatIsAsked } from "../../../src/ledger/decisions/what-is-asked.ts";
import { noWeight } from "../../../src/engine/model/operation.ts";

const weight = JSON.stringify({ ...noWeight, seats: 2, lastAsset: 9 });
const row = {
  scope: "policy",
  why: "policies.assignments.revoked is ask",
  reason: "a",
  weight,
  toEarn: null,
  earned: 0,
  lastAsset: 2,
};
const told = (...rows: object[]): unknown => whatIsAsked(() => rows.map((one) => ({ ...row, ...one })), "h");

it("says each reason once, why it is held, and what is held in units of the business", () => {
  const explanation = "a; b; policies.assignments.revoked is ask; held here: 4 seats; 2 people lose their last asset";
  expect(told({}, { reason: "b" })).toMatchObject({ count: 2, explanation });
  expect(told({ weight: null, toEarn: 10, earned: 4, lastAsset: 0 })).toMatchObject({
    explanation: "a; policies.assignments.revoked is ask; 4 of 10 approved so far",
  });
});

it.each(["enterprise", "run", "day", "week"])("names nothing by itself where the limit of %s holds it", (scope) => {
  expect(told({ scope, why: "the sum" }, { scope, why: "the sum", reason: "b" })).toMatchObject({
    explanation: "the sum; held here: 4 seats; 2 people lose their last asset",
  });
});

it("spells out three reasons and counts the others", () => {
  const text = "a; b; c; 2 more for reasons of this kind; policies.assignments.revoked is ask";
  expect(told(...["a", "b", "c", "d", "e"].map((reason) => ({ reason, weight: null, lastAsset: 0 })))).toMatchObject({
    explanation: text,
  });
});
