import { freedBy } from "../../../src/engine/model/registry.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Block } from "../../../src/engine/plan/blocks.ts";
import {
  needs,
  assignment,
  customer,
  fixed,
  lines,
  linked,
  member,
  memberOf,
  order,
  outcomes,
  people,
  placed,
  plan,
  planLinked,
  shown,
  situation,
  staff,
  staffLink,
  staffLinks,
  staffOutcome,
  standingOrders,
  wireOf,
  type Situation,
} from "../../engine/situation.ts";
import { asset, product } from "../../support/world/instances.ts";

const own = customer();
const claims = (...numbers: string[]) => ({ assets: numbers.map((assetNumber) => ({ assetNumber })) });
const ofInstance = (...instances: string[]) => ({ assets: instances.map((instanceId) => ({ instanceId })) });

/** An order that brought the instance `i` with as many numbers as are named. */
function brought(...numbers: string[]) {
  const it = order("1", { instances: [asset("i", { quantity: numbers.length }), product("p", "i")] });
  return { placedOrders: placed(it), numbers: fixed("1", "i", ...numbers) };
}

describe("what a person should hold", () => {
  const ann = staff("ann", claims("N1", "N2"));

  it("is granted by one M9, with an empty list of what is taken away", () => {
    const planned = planLinked(ann, shown(["ann"], { N1: null, N2: null, N3: null }));
    expect(lines(planned)).toEqual(["grant-assets staff:crm/ann N1 N2"]);
    const [grant] = planned.operations;
    expect(grant).toMatchObject({
      endpoint: "M9",
      stage: "grants",
      takesAway: 0,
      target: { memberGlobalId: { $ref: "memberGlobalId", of: "crm/ann" } },
    });
    expect(grant && wireOf(grant, situation({}).known)).toEqual({ deleteAssets: [], addAssets: ["N1", "N2"] });
  });

  it("and holds already by our own grant needs nothing", () => {
    const planned = planLinked(ann, shown(["ann"], { N1: "ann", N2: "ann" }), {
      assignments: [assignment(ann, "N1"), assignment(ann, "N2")],
    });
    expect([planned.operations, planned.changes]).toEqual([[], []]);
  });

  it("and holds already by another's hand is adopted, so that it can be taken away later", () => {
    const planned = planLinked(ann, shown(["ann"], { N1: "ann", N2: "ann" }), { assignments: [assignment(ann, "N1")] });
    expect(planned.operations).toEqual([]);
    expect(planned.changes).toEqual([
      expect.objectContaining({
        type: "asset-granted",
        assetNumber: "N2",
        origin: "adopted",
        memberGlobalId: "M-ann",
        operationId: null,
      }),
    ]);
  });

  it("is not granted anew where somebody took it away", () => {
    const known = { staffLinks: staffLink(ann), assignments: [assignment(ann, "N1"), assignment(ann, "N2")] };
    const planned = plan(people({ staff: [ann], known, observed: shown(["ann"], { N1: null, N2: "ann" }) }));
    expect(lines(planned)).toEqual([]);
    expect(staffOutcome(planned)).toMatchObject({ code: "asset.taken-away", again: true });
  });

  it("waits where the platform does not show the number", () => {
    const planned = planLinked(ann, shown(["ann"], { N1: null }));
    expect(lines(planned)).toEqual(["grant-assets staff:crm/ann N1"]);
    expect(staffOutcome(planned)).toMatchObject({ code: "asset.not-shown", again: true });
  });

  it("waits where a stranger holds the number: it is not taken from them", () => {
    const planned = planLinked(ann, shown(["ann", "stranger"], { N1: "stranger", N2: null }));
    expect(lines(planned)).toEqual(["grant-assets staff:crm/ann N2"]);
    expect(staffOutcome(planned)).toMatchObject({ code: "asset.held-by-another", again: true });
  });

  it("waits where nobody read who holds what", () => {
    const planned = planLinked(ann, { members: [member("ann")], assets: undefined });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toContain("staff crm/ann deferred staff.not-read");
  });

  it("is named once even if the CRM names it twice, by number or by number and instance", () => {
    const twice = staff("ann", claims("N1", "N1"));
    const known = { staffLinks: staffLink(twice) };
    const planned = plan(people({ staff: [twice], known, observed: shown(["ann"], { N1: null }) }));
    expect(lines(planned)).toEqual(["grant-assets staff:crm/ann N1"]);
    expect(outcomes(planned)).toContain("staff crm/ann planned");
    const both = staff("ann", { assets: [{ instanceId: "i" }, { assetNumber: "N1" }] });
    const again = plan(
      people({ staff: [both], known: { ...known, ...brought("N1") }, observed: shown(["ann"], { N1: null }) }),
    );
    expect(lines(again)).toEqual(["grant-assets staff:crm/ann N1"]);
    expect(outcomes(again)).toContain("staff crm/ann planned");
  });
});

describe("what a person should no longer hold", () => {
  const ann = staff("ann", claims("N1"));
  const held = {
    staffLinks: staffLink(ann),
    assignments: [assignment(ann, "N1"), assignment(ann, "N2"), assignment(ann, "N3", { origin: "adopted" })],
  };

  it("is taken away by one M9, with an empty list of what is given, and counted", () => {
    const planned = plan(
      people({ staff: [ann], known: held, observed: shown(["ann"], { N1: "ann", N2: "ann", N3: "ann" }) }),
    );
    expect(lines(planned)).toEqual(["revoke-assets staff:crm/ann N2 N3"]);
    const [revoke] = planned.operations;
    expect(revoke).toMatchObject({
      endpoint: "M9",
      stage: "revokes",
      takesAway: 2,
      target: { memberGlobalId: "M-ann" },
      before: { N2: "M-ann", N3: "M-ann" },
    });
    expect(revoke && wireOf(revoke, situation({}).known)).toEqual({ deleteAssets: ["N2", "N3"], addAssets: [] });
  });

  it("stays where we neither granted nor adopted it", () => {
    const planned = planLinked(ann, shown(["ann"], { N1: "ann", N8: "ann" }), { assignments: [assignment(ann, "N1")] });
    expect([planned.operations, planned.changes]).toEqual([[], []]);
  });

  it("is taken from the member it was given to, even if the record is linked to another by now", () => {
    const planned = plan(
      people({
        staff: [ann],
        known: { ...held, staffLinks: staffLink(ann, "M-new") },
        observed: { ...shown(["ann"], { N1: null, N2: "ann", N3: "ann" }), members: [member("ann"), member("new")] },
      }),
    );
    expect(planned.operations.map((item) => [item.kind, item.target])).toEqual([
      ["revoke-assets", { memberGlobalId: "M-ann" }],
      ["grant-assets", { memberGlobalId: { $ref: "memberGlobalId", of: "crm/ann" } }],
    ]);
  });

  it("stays with an earlier account of the person, and says so", () => {
    const known = { assignments: [assignment(ann, "N1")], staffLinks: staffLink(ann, "M-new") };
    const observed = { ...shown(["ann"], { N1: "ann" }), members: [member("ann"), member("new")] };
    const planned = plan(people({ staff: [ann], known, observed }));
    expect(planned.operations).toEqual([]);
    expect(staffOutcome(planned)?.reason).toContain(
      "the earlier account M-ann of this person still holds the asset number N1",
    );
  });

  it("that is gone from the platform already is only noted", () => {
    const planned = plan(
      people({ staff: [ann], known: held, observed: shown(["ann", "bob"], { N1: "ann", N2: null, N3: "bob" }) }),
    );
    expect(planned.operations).toEqual([]);
    expect(planned.changes).toEqual([
      { type: "asset-revoked", assetNumber: "N2", operationId: null },
      { type: "asset-revoked", assetNumber: "N3", operationId: null },
    ]);
  });

  it("is not forgotten where M6 shows nothing and M5 still shows it", () => {
    const planned = plan(
      people({
        staff: [ann],
        known: held,
        observed: { members: [member("ann", { assetNums: ["N1", "N2", "N3"] })], assets: [] },
      }),
    );
    expect([planned.operations, planned.changes]).toEqual([[], []]);
    expect(staffOutcome(planned)).toMatchObject({ outcome: "deferred", again: true });
    const gone = plan(
      people({
        staff: [staff("ann")],
        known: held,
        observed: { members: [member("ann", { assetNums: ["N2"] })], assets: [] },
      }),
    );
    expect(gone.changes).toEqual([
      { type: "asset-revoked", assetNumber: "N1", operationId: null },
      { type: "asset-revoked", assetNumber: "N3", operationId: null },
    ]);
    expect(outcomes(gone)).toContain("staff crm/ann deferred asset.readings-disagree");
  });

  it("stays while it was not read who holds what, and is looked at again", () => {
    const absent = staff("ann", {}, { state: "absent" });
    const planned = plan(people({ staff: [absent], known: held, observed: { members: undefined, assets: undefined } }));
    expect([planned.operations, planned.changes]).toEqual([[], []]);
    expect(staffOutcome(planned)).toMatchObject({ code: "staff.not-read", again: true });
  });

  it("is all of it for a person who is gone from the CRM", () => {
    const absent = staff("ann", claims("N1"), { state: "absent" });
    const planned = plan(
      people({ staff: [absent], known: held, observed: shown(["ann"], { N1: "ann", N2: "ann", N3: "ann" }) }),
    );
    expect(lines(planned)).toEqual(["revoke-assets staff:crm/ann N1 N2 N3"]);
  });

  it("is all of it for a person who belongs to another customer by now, and is read for", () => {
    const input = situation(people({ known: held, observed: shown(["ann"], { N1: "ann", N2: "ann", N3: "ann" }) }));
    expect(lines(plan(input))).toEqual(["revoke-assets staff:crm/ann N1 N2 N3"]);
    expect(needs(input, false).people).toBe(true);
    const mine = situation(people({ staff: [staff("ann", {}, { pending: false })], known: held }));
    expect(needs(mine, false).people).toBe(false);
  });

  it("stays while the person's record waits in quarantine, and while another record of the customer does", () => {
    const quarantined = staff("ann", {}, { state: "quarantined" });
    const all = shown(["ann"], { N1: "ann", N2: "ann", N3: "ann" });
    expect(
      plan(
        people({
          staff: [quarantined, staff("bob", {}, { pending: true })],
          known: held,
          observed: { ...all, members: [member("ann"), member("bob")] },
        }),
      ).operations,
    ).toEqual([]);
    const planned = plan(people({ staff: [ann], known: held, observed: all, quarantinedInScope: 2 }));
    expect(planned.operations).toEqual([]);
    expect(staffOutcome(planned)).toMatchObject({
      code: "revokes.blocked",
      again: true,
      reason:
        "2 records of this customer wait in quarantine, so nothing is removed: `crm-sync explain customer crm/ALFKI` lists them",
    });
  });

  it("stays while the run may take nothing away, with the run's own reason", () => {
    const block: Block = { code: "revokes.blocked", reason: "nothing is taken away: the source shrank", again: true };
    const planned = plan(
      people({ staff: [ann], known: held, observed: shown(["ann"], { N1: "ann", N2: "ann", N3: "ann" }) }),
      { removalsBlocked: block },
    );
    expect(planned.operations).toEqual([]);
    expect(staffOutcome(planned)).toMatchObject({ ...block, outcome: "deferred" });
  });

  it("stays while something else the person claims is not ordered yet, however many reasons there are", () => {
    for (const assets of [
      [{ instanceId: "later" }],
      [{ assetNumber: "N9" }, { instanceId: "later" }],
      [{ instanceId: "later" }, { assetNumber: "N9" }],
    ]) {
      const waiting = staff("ann", { assets });
      const bob = staff("bob", claims("N9"));
      const planned = plan(
        people({
          staff: [bob, waiting],
          known: {
            staffLinks: staffLinks(waiting, bob),
            assignments: [assignment(waiting, "N1"), assignment(bob, "N9")],
          },
          observed: shown(["ann", "bob"], { N1: "ann", N9: "bob" }),
        }),
      );
      expect(planned.operations).toEqual([]);
      expect(planned.changes).toEqual([]);
    }
  });

  it("a rejected revoke does not put to rest what the person still waits for", () => {
    const waiting = staff("ann", claims("N1", "N9"));
    const bob = staff("bob", claims("N9"));
    const rejected: Block = { code: "revokes.rejected", reason: "a person rejected it", again: false };
    const planned = plan(
      people({
        staff: [waiting, bob],
        known: {
          staffLinks: staffLinks(waiting, bob),
          assignments: [assignment(waiting, "N1"), assignment(waiting, "N2"), assignment(bob, "N9")],
        },
        observed: shown(["ann", "bob"], { N1: "ann", N2: "ann", N9: "bob" }),
      }),
      { removalsBlocked: rejected },
    );
    expect(planned.records.find((item) => item.key.id === "ann")).toMatchObject({
      code: "asset.claimed-twice",
      again: true,
    });
  });
});

describe("a number that moves from one person to another", () => {
  const ann = staff("ann");
  const bob = staff("bob", claims("N1"));
  const moving = people({
    staff: [ann, bob],
    known: { staffLinks: staffLinks(ann, bob), assignments: [assignment(ann, "N1")] },
    observed: shown(["ann", "bob"], { N1: "ann" }),
  });

  it("is taken away first and given afterwards, in two steps", () => {
    expect(lines(plan(moving))).toEqual(["revoke-assets staff:crm/ann N1", "grant-assets staff:crm/bob N1"]);
  });

  it("that is in between is only given, and one that arrived is only noted", () => {
    expect(lines(plan(people({ ...moving, observed: shown(["ann", "bob"], { N1: null }) })))).toEqual([
      "grant-assets staff:crm/bob N1",
    ]);
    const arrived = plan(people({ ...moving, observed: shown(["ann", "bob"], { N1: "bob" }) }));
    expect(arrived.operations).toEqual([]);
    expect(arrived.changes.map((change) => change.type)).toEqual(["asset-revoked", "asset-granted"]);
  });

  it("stays where it is, and is not given, while nothing may be taken away", () => {
    const planned = plan(people({ ...moving, quarantinedInScope: 1 }));
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual([
      "customers crm/ALFKI planned",
      "staff crm/ann deferred revokes.blocked",
      "staff crm/bob deferred asset.held-by-another",
    ]);
    expect(planned.records.find((item) => item.key.id === "bob")?.reason).toContain("crm/ann still holds");
  });

  it("and that a stranger got in the meantime is not given", () => {
    const planned = plan(people({ ...moving, observed: shown(["ann", "bob", "stranger"], { N1: "stranger" }) }));
    expect(planned.operations).toEqual([]);
    expect(planned.records.find((item) => item.key.id === "bob")?.reason).toContain(
      "crm-sync did not make that assignment",
    );
  });

  it("of two that change places, both are taken first", () => {
    const left = staff("ann", claims("N2"));
    const right = staff("bob", claims("N1"));
    const planned = plan(
      people({
        staff: [left, right],
        known: { staffLinks: staffLinks(left, right), assignments: [assignment(left, "N1"), assignment(right, "N2")] },
        observed: shown(["ann", "bob"], { N1: "ann", N2: "bob" }),
      }),
    );
    expect(lines(planned)).toEqual([
      "revoke-assets staff:crm/ann N1",
      "revoke-assets staff:crm/bob N2",
      "grant-assets staff:crm/ann N2",
      "grant-assets staff:crm/bob N1",
    ]);
  });
});

describe("a claim by the asset instance", () => {
  it("waits until the order is placed, and is granted in the same plan that places it", () => {
    const ann = staff("ann", ofInstance("i"));
    const waiting = planLinked(ann, shown(["ann"]));
    expect(outcomes(waiting)).toContain("staff crm/ann deferred asset.not-ordered");
    const it = order("1", { instances: [asset("i"), product("p", "i")] });
    const together = plan(
      people({ orders: [it], staff: [ann], known: { staffLinks: staffLink(ann) }, observed: shown(["ann"]) }),
    );
    expect(lines(together)).toEqual(["place-order order:crm/1", 'grant-assets staff:crm/ann ["crm","1","i",0]']);
  });

  it("or by the number of what was taken away is told of, and what else the person holds is taken", () => {
    const ended = [{ number: "N1", namespace: "crm", instanceId: "i" }];
    const orders = [order("1", { instances: [asset("i"), product("p", "i")] })];
    for (const [claim, waits] of [
      [ofInstance("i"), "a number of its own"],
      [claims("N1"), "nobody"],
    ] as const) {
      const ann = staff("ann", claim);
      const known = { staffLinks: staffLink(ann), assignments: [assignment(ann, "N2")] };
      const observed = shown(["ann"], { N1: null, N2: "ann" });
      const planned = plan(people({ staff: [ann], known, observed, ended }));
      expect(lines(planned)).toEqual(["revoke-assets staff:crm/ann N2"]);
      expect(outcomes(planned)).toContain("staff crm/ann deferred asset.ended");
      // The asset is bought again, under another number.
      const restored = outcomes(plan(people({ staff: [ann], orders, known, observed, ended })));
      expect(restored.includes("staff crm/ann deferred asset.ended")).toBe(waits === "nobody");
    }
  });

  it("is not taken from a number that is fixed to an order which is not placed", () => {
    const ann = staff("ann", ofInstance("i"));
    const planned = planLinked(ann, shown(["ann"], { N1: null }), { numbers: fixed("1", "i", "N1") });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toContain("staff crm/ann deferred asset.not-ordered");
  });

  it("knows a unit once whose number was fixed by an earlier try to place its order", () => {
    const ann = staff("ann", { assets: [{ instanceId: "i" }, { assetNumber: "N1" }] });
    const it1 = order("1", { instances: [asset("i"), product("p", "i")] });
    const planned = plan({ customer: own, orders: [it1], staff: [ann], known: { numbers: fixed("1", "i", "N1") } });
    expect(lines(planned).at(-1)).toBe("grant-assets staff:crm/ann N1");
    expect(planned.records.every((record) => record.outcome === "planned")).toBe(true);
  });

  it("gives the number of the unit, and the same hash before and after the number is known", () => {
    const ann = staff("ann", ofInstance("i"));
    const it = order("1", { instances: [asset("i"), product("p", "i")] });
    const known = linked(own, { staffLinks: staffLink(ann), ...brought("N1") });
    const [after] = plan({ customer: own, staff: [ann], known, observed: shown(["ann"], { N1: null }) }).operations;
    expect(after?.after).toEqual(["N1"]);
    expect(after && wireOf(after, situation({ known }).known)).toEqual({ deleteAssets: [], addAssets: ["N1"] });
    const before = plan(
      people({ orders: [it], staff: [ann], known: { staffLinks: staffLink(ann) }, observed: shown(["ann"]) }),
    ).operations.at(-1);
    expect(after?.hash).toBe(before?.hash);
  });

  it("keeps the numbers that people hold, and gives the free ones to the others", () => {
    const [ann, bob, eve] = [
      staff("ann", ofInstance("i")),
      staff("bob", ofInstance("i")),
      staff("eve", ofInstance("i")),
    ];
    const known = {
      staffLinks: staffLinks(ann, bob, eve),
      ...brought("N1", "N2", "N3"),
      assignments: [assignment(bob, "N1"), assignment(eve, "N3")],
    };
    const planned = plan(
      people({
        staff: [ann, bob, eve],
        known,
        observed: shown(["ann", "bob", "eve"], { N1: "bob", N2: null, N3: "eve" }),
      }),
    );
    expect(lines(planned)).toEqual(["grant-assets staff:crm/ann N2"]);
    const one = plan(
      people({ staff: [ann, bob], known, observed: shown(["ann", "bob", "eve"], { N1: "bob", N2: null, N3: "eve" }) }),
    );
    expect(lines(one)).toEqual(["revoke-assets staff:crm/eve N3", "grant-assets staff:crm/ann N2"]);
  });

  it("of more people than there are numbers leaves the last one waiting, who takes the number that becomes free", () => {
    const [ann, bob] = [staff("ann", ofInstance("i")), staff("bob", ofInstance("i"))];
    const known = { staffLinks: staffLinks(ann, bob), ...brought("N1"), assignments: [assignment(bob, "N1")] };
    const planned = plan(people({ staff: [ann, bob], known, observed: shown(["ann", "bob"], { N1: "bob" }) }));
    expect(planned.operations).toEqual([]);
    expect(planned.records.find((item) => item.key.id === "ann")).toMatchObject({
      code: "asset.claimed-twice",
      again: true,
      reason: "the CRM gives asset instance i to crm/bob too, but an asset number can have only one holder",
    });
    const gone = staff("bob", {}, { version: 2 });
    expect(lines(plan(people({ staff: [ann, gone], known, observed: shown(["ann", "bob"], { N1: "bob" }) })))).toEqual([
      "revoke-assets staff:crm/bob N1",
      "grant-assets staff:crm/ann N1",
    ]);
  });

  it("by one person twice means two numbers, and says so where there are not two", () => {
    const ann = staff("ann", ofInstance("i", "i"));
    const two = planLinked(ann, shown(["ann"], { N1: null, N2: null }), { ...brought("N1", "N2") });
    expect(lines(two)).toEqual(["grant-assets staff:crm/ann N1 N2"]);
    const one = planLinked(ann, shown(["ann"], { N1: null }), { ...brought("N1") });
    expect(lines(one)).toEqual(["grant-assets staff:crm/ann N1"]);
    expect(staffOutcome(one)?.reason).toContain("to this person more often than it has asset numbers");
  });

  it("yields to a claim of the very number, which nothing else can satisfy", () => {
    const [ann, bob] = [staff("ann", ofInstance("i")), staff("bob", claims("N1"))];
    const known = { staffLinks: staffLinks(ann, bob), ...brought("N1", "N2") };
    const fresh = plan(people({ staff: [ann, bob], known, observed: shown(["ann", "bob"], { N1: null, N2: null }) }));
    expect(lines(fresh)).toEqual(["grant-assets staff:crm/ann N2", "grant-assets staff:crm/bob N1"]);
    expect(fresh.records.every((record) => record.outcome === "planned")).toBe(true);
  });

  it("does not take what a quarantined record holds", () => {
    const [ann, bob] = [staff("ann", ofInstance("i")), staff("bob", {}, { state: "quarantined" })];
    const known = { staffLinks: staffLinks(ann, bob), ...brought("N1"), assignments: [assignment(bob, "N1")] };
    const planned = plan(people({ staff: [ann, bob], known, observed: shown(["ann", "bob"], { N1: "bob" }) }));
    expect(planned.operations).toEqual([]);
    expect(planned.records.find((item) => item.key.id === "ann")?.reason).toContain(
      "gives asset instance i to crm/bob too",
    );
  });
});

describe("a number that two people claim", () => {
  it("stays with whom it is held by; the other one waits, by name", () => {
    const [ann, bob] = [staff("ann", claims("N1")), staff("bob", claims("N1"))];
    const planned = plan(
      people({
        staff: [ann, bob],
        known: { staffLinks: staffLinks(ann, bob), assignments: [assignment(bob, "N1")] },
        observed: shown(["ann", "bob"], { N1: "bob" }),
      }),
    );
    expect(planned.operations).toEqual([]);
    expect(planned.records.find((item) => item.key.id === "ann")).toMatchObject({
      code: "asset.claimed-twice",
      reason: "the CRM gives asset number N1 to crm/bob too, but an asset number can have only one holder",
    });
    const fresh = plan(
      people({
        staff: [ann, bob],
        known: { staffLinks: staffLinks(ann, bob) },
        observed: shown(["ann", "bob"], { N1: null }),
      }),
    );
    expect(lines(fresh)).toEqual(["grant-assets staff:crm/ann N1"]);
  });
});

describe("whatever people claim and hold", () => {
  const names = ["ann", "bob", "eve"];
  const numbers = ["N1", "N2", "N3", "N4", "N5"];
  const world = fc
    .record({
      wanted: fc.array(fc.uniqueArray(fc.constantFrom(...numbers, "i")), { minLength: 3, maxLength: 3 }),
      holders: fc.array(fc.option(fc.constantFrom(...names, "stranger")), { minLength: 5, maxLength: 5 }),
      ours: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
      states: fc.array(
        fc.constantFrom("current" as const, "current" as const, "absent" as const, "quarantined" as const),
        { minLength: 3, maxLength: 3 },
      ),
      inQuarantine: fc.boolean(),
    })
    .map(({ wanted, holders, ours, states, inQuarantine }) => {
      const folk = names.map((name, index) =>
        staff(
          name,
          { assets: (wanted[index] ?? []).map((item) => (item === "i" ? { instanceId: "i" } : { assetNumber: item })) },
          { state: states[index] ?? "current" },
        ),
      );
      const holding = Object.fromEntries(numbers.map((number, index) => [number, holders[index] ?? null]));
      const assignments = numbers.flatMap((number, index) => {
        const person = folk.find((item) => item.key.id === holding[number]);
        return person !== undefined && ours[index] === true ? [assignment(person, number)] : [];
      });
      const known = { staffLinks: staffLinks(...folk), ...brought("N4", "N5"), assignments };
      return people({
        staff: folk,
        known,
        observed: shown([...names, "stranger"], holding),
        quarantinedInScope: inQuarantine || states.includes("quarantined") ? 1 : 0,
      });
    });

  /** Carries the plan out in memory: what the platform shows and what the ledger knows afterwards. */
  function after(given: Situation): Situation {
    const input = situation(given);
    const planned = plan(input);
    const holding = new Map((input.observed.assets ?? []).map((item) => [item.assetNum, item.holder]));
    let assignments = [...input.known.assignments];
    const drop = (number: string) => (assignments = assignments.filter((item) => item.assetNumber !== number));
    for (const change of planned.changes) {
      if (change.type === "asset-revoked") drop(change.assetNumber);
      if (change.type === "asset-granted")
        assignments.push({
          assetNumber: change.assetNumber,
          staff: change.staff,
          memberGlobalId: change.memberGlobalId,
          origin: "adopted",
        });
    }
    for (const operation of planned.operations) {
      const [person] = operation.records;
      if (person === undefined) continue;
      const key = { namespace: person.namespace, id: person.id };
      for (const number of freedBy(operation)) {
        if (holding.get(number) !== memberOf({ key })) throw new Error(`${number} is not held by ${key.id}`);
        holding.set(number, null);
        drop(number);
      }
      for (const number of operation.kind === "grant-assets" ? strings(operation.after) : []) {
        if (holding.get(number) !== null) throw new Error(`${number} is not free`);
        holding.set(number, memberOf({ key }));
        assignments.push(assignment({ key }, number));
      }
    }
    const owners = Object.fromEntries([...holding].map(([number, holder]) => [number, holder?.slice(2) ?? null]));
    return { ...given, known: { ...given.known, assignments }, observed: shown([...names, "stranger"], owners) };
  }

  const strings = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

  it(
    "a number is only given when it is free, and only taken from whom we gave it; then nothing is left to do",
    { tags: "long" },
    () => {
      fc.assert(
        fc.property(world, (given) => {
          const once = after(given);
          const planned = plan(once);
          expect([lines(planned), planned.changes]).toEqual([[], []]);
          const stranger = (situation: Situation) =>
            situation.observed?.members?.find((item) => item.globalId === "M-stranger")?.assetNums;
          expect(stranger(once)).toEqual(stranger(given));
        }),
        { numRuns: 1_000 },
      );
    },
  );

  it(
    "nobody loses what was not ours to take, and nothing is taken while a record is in quarantine",
    { tags: "long" },
    () => {
      fc.assert(
        fc.property(world, (given) => {
          const input = situation(given);
          const taken = plan(input).operations.flatMap(freedBy);
          const ours = new Set(input.known.assignments.map((item) => item.assetNumber));
          expect(taken.every((number) => ours.has(number))).toBe(true);
          if (input.quarantinedInScope > 0) expect(taken).toEqual([]);
        }),
        { numRuns: 500 },
      );
    },
  );
});

it("a number of an order that is to go is given to nobody, also while its removal waits", () => {
  const ann = staff("ann", claims("N1"));
  const instances = [asset("i"), product("p", "i")];
  const { placedOrders, numbers } = brought("N1");
  const given = people({
    staff: [ann],
    orders: [order("1", { cancelled: true, instances })],
    standings: standingOrders([order("1", { instances })], numbers),
    known: { placedOrders, numbers, staffLinks: staffLinks(ann) },
    observed: shown(["ann"], { N1: null }),
  });
  expect(lines(plan(given))).toEqual([]);
  expect(lines(plan({ ...given, orders: [] }))).toEqual(["grant-assets staff:crm/ann N1"]);
});
