import { describe, expect, it } from "vitest";
import { formatKey } from "../../src/crm/keys.ts";
import { operation, noWeight, sumOf, weightText } from "../../src/engine/model/operation.ts";
import { policyOf, policySettingsSchema } from "../../src/engine/model/policy-settings.ts";
import { contradictedBlock, consider, restsOf, StandingRejections } from "../../src/engine/plan/rejections.ts";
import { standardPolicies, standardRules } from "../support/world/rules.ts";
import {
  assignment,
  customer,
  linked,
  lines,
  outcomes,
  people,
  plan,
  shown,
  staff,
  staffLinks,
  settingsWith,
} from "./situation.ts";

describe("the policies of a configuration", () => {
  it("add at once, and let nothing be taken away before a person has seen how it is done", () => {
    const standing = (["added", "ended", "cancelled", "deleted", "replaced", "assetChanged", "moved"] as const).map(
      (name) => policyOf(standardPolicies, `orders.${name}`),
    );
    expect(standing).toEqual([
      "apply",
      "apply-after-approvals",
      "apply-after-approvals",
      "apply-after-approvals",
      "apply-after-approvals",
      "ask",
      "apply-after-approvals",
    ]);
    expect(policyOf(standardPolicies, "assignments.revoked")).toBe("apply");
    expect(policyOf(standardPolicies, "staff.left")).toBe("report");
    expect(standardPolicies.approvalsNeeded).toBe(10);
  });

  it.each(["ask", "apply", "apply-after-approvals"])("do not take `%s` where no call exists", (word) => {
    const read = policySettingsSchema.safeParse({ enterprises: { deleted: word } });
    expect(read.error?.issues.map((issue) => issue.message)).toEqual([
      "no call does it, so it can only be told: write report or ignore",
    ]);
  });
});

describe("what a policy makes of an operation that is meant", () => {
  const ann = staff("ann", { assets: [] });
  const situation = people({
    staff: [ann],
    known: { staffLinks: staffLinks(ann), assignments: [assignment(ann, "A1")] },
    observed: shown(["ann"], { A1: "ann" }),
  });
  const withWord = (revoked: "ignore" | "report" | "ask" | "apply" | "apply-after-approvals") => ({
    policies: { ...standardPolicies, assignments: { revoked } },
  });

  it.each(["apply", "ask", "apply-after-approvals"] as const)(
    "plans it where it says %s: the gate of the run holds it",
    (word) => {
      expect(lines(plan(situation, withWord(word)))).toEqual(["revoke-assets staff:crm/ann A1"]);
    },
  );

  it("says nothing of it where it is ignored", () => {
    const planned = plan(situation, withWord("ignore"));
    expect([lines(planned), outcomes(planned)]).toEqual([[], ["customers crm/ALFKI planned", "staff crm/ann planned"]]);
  });

  it("tells it of the record where it is reported, and does nothing", () => {
    const planned = plan(situation, withWord("report"));
    expect([lines(planned), outcomes(planned)]).toEqual([
      [],
      ["customers crm/ALFKI planned", "staff crm/ann deferred policy.reported"],
    ]);
    expect(planned.records.at(-1)?.reason).toBe(
      "the CRM no longer gives this person 1 asset; policies.assignments.revoked is report, so crm-sync only reports this",
    );
  });

  it("leaves an order unplaced where additions are only told of", () => {
    expect(
      consider({ ...standardPolicies, orders: { ...standardPolicies.orders, added: "report" } }, "orders.added", "x"),
    ).toMatchObject({ code: "policy.reported", again: false });
  });

  it("sends nothing that rests on what was contradicted, and everything else", () => {
    const bob = staff("bob", { assets: [{ assetNumber: "A2" }] });
    const two = people({
      staff: [ann, bob],
      known: { staffLinks: staffLinks(ann, bob), assignments: [assignment(ann, "A1")] },
      observed: shown(["ann", "bob"], { A1: "ann", A2: null }),
    });
    const notWhole = { evidence: "a list of staff was not whole", about: [], since: "2026-10-05T08:00:00Z" };
    const planned = plan(two, { contradicted: new Map([["A27", notWhole]]) });
    expect([lines(planned), outcomes(planned)]).toEqual([
      ["grant-assets staff:crm/bob A2"],
      ["customers crm/ALFKI planned", "staff crm/ann deferred assumption.contradicted", "staff crm/bob planned"],
    ]);
  });
});

it("an account is deleted although what M5 showed of another customer contradicts A27, and not where it was its own", () => {
  const own = { namespace: "crm", id: "ALFKI" };
  const made = operation("delete-staff", {
    customer: own,
    subject: "account:crm/ann",
    records: [{ stream: "staff", namespace: "crm", id: "ann" }],
    target: { enterpriseGlobalId: "71", memberGlobalId: "81" },
    payload: {},
    reason: "gone",
    before: { memberGlobalId: "81" },
    after: { staff: { namespace: "crm", id: "ann" } },
  });
  const of = (about: string) =>
    new Map([["A27", { evidence: "not whole", about: [about], since: "2026-01-01" }]] as const);
  expect(contradictedBlock(restsOf(made), of("crm/OTHER"))).toBeUndefined();
  expect(contradictedBlock(restsOf(made), of(formatKey(own)))).toMatchObject({ code: "assumption.contradicted" });
});

describe("what a revoke weighs", () => {
  it("is the seats, the people who hold nothing afterwards, and the locks that are lent", () => {
    const ann = staff("ann", { assets: [] });
    const bob = staff("bob", { assets: [{ assetNumber: "B2" }] });
    const observed = shown(["ann", "bob"], { A1: "ann", A2: "ann", B1: "bob", B2: "bob" });
    const assets = observed.assets?.map((asset) => ({ ...asset, borrowed: asset.assetNum === "A2" }));
    const known = {
      staffLinks: staffLinks(ann, bob),
      assignments: [assignment(ann, "A1"), assignment(ann, "A2"), assignment(bob, "B1"), assignment(bob, "B2")],
    };
    const own = customer();
    const planned = plan({
      customer: own,
      staff: [ann, bob],
      known: linked(own, known),
      observed: {
        ...observed,
        assets,
        members: observed.members?.map((item) => ({ ...item, online: item.globalId === "M-bob" })),
      },
    });
    expect(planned.operations.map(({ weight }) => weight)).toEqual([
      { ...noWeight, seats: 2, lastAsset: 1, lent: 1 },
      { ...noWeight, seats: 1, online: 1 },
    ]);
    expect(weightText(sumOf(planned.operations.map(({ weight }) => weight)))).toBe(
      "3 seats; 1 person loses their last asset, 1 person was online, 1 lock is lent",
    );
  });

  it("is told in units of the business", () => {
    expect(
      weightText({ seats: 2011, products: 3, accounts: 1, locks: 2, nodes: 240, lastAsset: 4, online: 1, lent: 2 }),
    ).toBe(
      "2,011 seats, 3 products with 240 nodes, 1 account, 2 locks; 4 people lose their last asset, " +
        "1 person was online, 2 locks are lent",
    );
    expect(weightText(noWeight)).toBe("");
  });
});

describe("while a source cannot be believed", () => {
  it("nothing that takes something away is made of what is meant, whichever stage means it, and the rest is", () => {
    const removalsBlocked = { code: "revokes.blocked", reason: "a source has lost its rows", again: true };
    const ann = staff("ann", { assets: [] });
    const planned = plan(
      people({
        staff: [ann],
        known: { staffLinks: staffLinks(ann), assignments: [assignment(ann, "A1")] },
        observed: shown(["ann"], { A1: "ann" }),
      }),
    );
    const meant = planned.operations.map(({ ...operation }) => operation);
    const rejections = new StandingRejections([], { ...standardRules, settings: settingsWith(), removalsBlocked });
    const { operations, refused } = rejections.operations(meant);
    expect([planned.operations.length, operations]).toEqual([1, []]);
    expect(refused).toEqual([["crm/ann", removalsBlocked]]);
  });
});
