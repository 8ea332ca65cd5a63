import { describe, expect, it } from "vitest";
import type { PolicyWord } from "../../src/engine/model/policy-settings.ts";
import {
  noWeight,
  removesOf,
  removedThings,
  type Removes,
  type RemovedThing,
} from "../../src/engine/model/operation.ts";
import {
  allowedBy,
  judgeHoldables,
  questionsOf,
  withoutHeld,
  type Counts,
  type HeldFor,
  type Holdable,
  type RemovalLimits,
  type HoldRule,
  type Windows,
} from "../../src/engine/plan/limits.ts";
import { limitsSettingsSchema } from "../../src/engine/run/run-settings.ts";
import { asset, product } from "../support/world/instances.ts";
import {
  assignment,
  customer,
  fixed,
  lines,
  linked,
  order,
  placed,
  plan,
  shown,
  staff,
  staffLinks,
} from "./situation.ts";

const defaults = limitsSettingsSchema.parse({}).removals;
const nothing: Counts = { seats: 0, products: 0, accounts: 0, locks: 0 };
const never: Windows = { day: nothing, week: nothing };
/** Every policy applies, and nothing was earned. */
const applies: HoldRule = { word: () => "apply", earned: () => 0, toEarn: 10 };

/** So many things of each kind in an enterprise, whatever is live there. */
const atMost = (floor: number): RemovalLimits => ({ ...defaults, enterprise: { floor, share: 0 } });

interface Destruction {
  holdables: Holdable[];
  live: Partial<Counts>;
}

const none: Removes = { seats: [], products: 0, accounts: 0, locks: 0, nodes: 0 };

/** So many of a thing; each seat by a number that no other customer has. */
function removed(id: string, thing: RemovedThing, count: number): Removes {
  const numbers = Array.from({ length: count }, (_, n) => `${id} ${n}`);
  return { ...none, [thing]: thing === "seats" ? numbers : count };
}

/** One operation that takes away so many of a thing. */
function holdable(id: string, { count = 1, ...fields }: Partial<Holdable> & { count?: number } = {}): Holdable {
  const thing = fields.thing ?? "seats";
  const hash = `${id} ${thing} ${count}`;
  return {
    customer: { namespace: "crm", id },
    hash,
    kind: "revoke-assets",
    subject: `staff:${id}`,
    policy: "assignments.revoked",
    thing,
    removes: removed(fields.hash ?? hash, thing, count),
    weight: { ...noWeight, [thing]: count },
    reason: "the CRM no longer has it",
    alone: false,
    flips: undefined,
    records: [],
    rebuilt: false,
    ...fields,
  };
}

function destruction(id: string, count: number, live: number): Destruction {
  return { holdables: [holdable(id, { count })], live: { seats: live } };
}

interface Around {
  all?: Partial<Counts>;
  /** What limits hold already of a customer, and nobody answered. */
  asked?: Readonly<Record<string, Removes>>;
  limits?: RemovalLimits;
  windows?: Windows;
  rule?: HoldRule;
  /** What was released in the run before. */
  released?: readonly Holdable[];
}

/** Why each operation is held, by its hash; of all things a million live where nothing else is said. */
function heldOf(items: readonly Destruction[], around: Around = {}): ReadonlyMap<string, HeldFor> {
  const { all = {}, asked = {}, limits = defaults, windows = never, rule = applies, released = [] } = around;
  const many: Counts = { seats: 1_000_000, products: 1_000_000, accounts: 1_000_000, locks: 1_000_000 };
  const own = new Map(
    items.flatMap(({ holdables, live }) => holdables.map((item) => [item.customer.id, live] as const)),
  );
  const live = { of: ({ id }: { id: string }) => ({ ...nothing, ...own.get(id) }), all: { ...many, ...all } };
  const askedOf = ({ id }: { id: string }): Removes[] => (asked[id] === undefined ? [] : [asked[id]]);
  const sums = { live, windows, asked: { all: Object.values(asked), of: askedOf }, released };
  return judgeHoldables(
    items.flatMap(({ holdables }) => holdables),
    limits,
    sums,
    rule,
  );
}

function judged(items: readonly Destruction[], liveInAll: number, around: Around = {}): string[] {
  const held = heldOf(items, { ...around, all: { seats: liveInAll, ...around.all } });
  return items.flatMap(({ holdables }) =>
    holdables.map(({ customer, hash }) => {
      const why = held.get(hash);
      return `${customer.id} ${why === undefined ? "released" : `held by ${why.scope}`}`;
    }),
  );
}

function only(count: number, live: number, liveInAll: number): HeldFor | undefined {
  return [...heldOf([destruction("a", count, live)], { all: { seats: liveInAll } }).values()][0];
}

describe("the limit of one enterprise: 5, or 5 % of what is live there", () => {
  it.each([
    [0, 4, true],
    [0, 5, true],
    [0, 6, false],
    [100, 4, true],
    [100, 5, true],
    [100, 6, false],
    [119, 5, true],
    [119, 6, false],
    [120, 5, true],
    [120, 6, true],
    [120, 7, false],
    [200, 9, true],
    [200, 10, true],
    [200, 11, false],
  ])("of %i seats, %i taken away: released %s", (live, count, released) => {
    expect(only(count, live, 1_000_000) === undefined).toBe(released);
  });

  it.each(removedThings)("is exact for %s at one below it, at it and one above it", (thing) => {
    const of = (count: number) =>
      judged([{ holdables: [holdable("a", { thing, count })], live: { [thing]: 200 } }], 1_000_000);
    expect([of(9), of(10), of(11)]).toEqual([["a released"], ["a released"], ["a held by enterprise"]]);
  });

  it("holds all that takes away there once one kind of thing is over it, and nothing elsewhere", () => {
    const items: Destruction[] = [
      { holdables: [holdable("a", { thing: "products", count: 6 }), holdable("a", { count: 1 })], live: {} },
      destruction("b", 1, 10),
    ];
    expect(judged(items, 1_000_000)).toEqual(["a held by enterprise", "a held by enterprise", "b released"]);
  });

  it("counts each kind of thing by itself", () => {
    const items = [
      { holdables: [holdable("a", { thing: "products", count: 5 }), holdable("a", { count: 5 })], live: {} },
    ];
    expect(judged(items, 1_000_000)).toEqual(["a released", "a released"]);
  });

  it("counts the seats that go with what is deleted among the seats", () => {
    const deleted = (count: number) =>
      holdable("a", { thing: "products", removes: { ...removed("a", "seats", count), products: 1 } });
    const of = (count: number) =>
      judged([{ holdables: [holdable("a", { count: 2 }), deleted(count)], live: {} }], 1_000_000);
    expect([of(3), of(4)]).toEqual([
      ["a released", "a released"],
      ["a held by enterprise", "a held by enterprise"],
    ]);
  });

  it("counts what its kind counts of a thing, whatever it weighs, and each seat by its number", () => {
    const weight = { ...noWeight, seats: 2, products: 9, nodes: 7 };
    expect(removesOf({ hash: "h", takesAway: 3, weight }, "products", ["N2", "N1"])).toEqual({
      seats: ["N1", "N2"],
      products: 3,
      accounts: 0,
      locks: 0,
      nodes: 7,
    });
    const unnamed = [removesOf({ hash: "h", takesAway: 3, weight }, "seats", ["N1"])];
    unnamed.push(removesOf({ hash: "i", takesAway: 3, weight }, "seats", ["N1"]));
    const holdables = unnamed.map((removes, index) => holdable("a", { hash: String(index), removes }));
    expect(heldOf([{ holdables, live: {} }], { limits: atMost(4) }).get("0")?.count).toBe(5);
  });

  it("counts a seat that several operations free once", () => {
    const frees = (hash: string, seats: string[]) => holdable("a", { hash, removes: { ...none, seats } });
    const first = frees("1", ["N1", "N2", "N3", "N4"]);
    const of = (...seats: string[]) => judged([{ holdables: [first, frees("2", seats)], live: {} }], 1_000_000);
    expect([of("N1", "N2", "N5"), of("N1", "N5", "N6")]).toEqual([
      ["a released", "a released"],
      ["a held by enterprise", "a held by enterprise"],
    ]);
  });

  it("counts what is asked along, each seat once, and holds nothing for that alone", () => {
    const asked = { a: removed("x", "seats", 5), b: removed("y", "seats", 9) };
    const of = (fields: Partial<Holdable>) =>
      heldOf([{ holdables: [holdable("a", fields)], live: { seats: 10 } }], { asked });
    expect(
      of({ removes: removed("z", "seats", 1) })
        .values()
        .toArray(),
    ).toMatchObject([
      {
        scope: "enterprise",
        count: 6,
        explanation:
          "6 of 10 (60.0 %) seats of this enterprise would have been removed (5 of them waited for a person already); " +
          "5 are allowed: the larger of 5 and 5 %",
      },
    ]);
    expect(of({ removes: { ...none, seats: ["x 0"] } }).size, "one of those that are asked about").toBe(0);
    expect(of({ thing: "products", removes: removed("z", "products", 1) }).size).toBe(0);
    expect(judged([destruction("c", 1, 10)], 1_000_000, { asked: { a: removed("x", "seats", 100) } })).toEqual([
      "c released",
    ]);
  });

  it("counts what the run released before along, and judges it no more", () => {
    const released = [holdable("a", { hash: "before", removes: removed("x", "seats", 4) })];
    const verdicts = (customer: string, ...seats: string[]): [string, string | undefined][] => {
      const again = holdable(customer, { hash: "again", removes: { ...none, seats } });
      const around = { released, limits: { ...defaults, run: { floor: 5, share: 0 } } };
      return [...heldOf([{ holdables: [again], live: { seats: 10 } }], around)].map(([hash, { scope }]) => [
        hash,
        scope,
      ]);
    };
    expect([verdicts("a", "N1", "x 0"), verdicts("a", "N1", "N2"), verdicts("b", "N1", "N2")]).toEqual([
      [],
      [["again", "enterprise"]],
      [["again", "run"]],
    ]);
  });

  it("holds nothing that takes nothing away", () => {
    const harmless = holdable("a", { thing: undefined, removes: none, weight: noWeight, hash: "harmless" });
    expect(judged([{ holdables: [holdable("a", { count: 6 }), harmless], live: {} }], 1_000_000)).toEqual([
      "a held by enterprise",
      "a released",
    ]);
  });

  it("prints the sum when it holds", () => {
    expect(only(11, 200, 1_000_000)).toMatchObject({
      scope: "enterprise",
      count: 11,
      allowed: 10,
      total: 200,
      explanation:
        "11 of 200 (5.5 %) seats of this enterprise would have been removed; 10 are allowed: the larger of 5 and 5 %",
    });
    expect(only(6, 0, 1_000_000)?.explanation).toBe(
      "6 of 0 seats of this enterprise would have been removed; 5 are allowed: the larger of 5 and 5 %",
    );
  });
});

describe("the limit of one run: 20, or 1 % of all that is live", () => {
  const four = (last: number) => [
    destruction("a", 5, 10),
    destruction("b", 5, 10),
    destruction("c", 5, 10),
    destruction("d", last, 10),
  ];
  const forty = (extra: number) =>
    Array.from({ length: 10 }, (_, index) => destruction(`e${index}`, index === 0 ? 3 + extra : 3, 10));

  it.each([
    [2_000, 4, true],
    [2_000, 5, true],
    [40, 5, true],
    [39, 5, false],
  ])("with %i live in all and %i in the last of four enterprises: released %s", (liveInAll, last, released) => {
    expect(judged(four(last), liveInAll).every((text) => text.endsWith("released"))).toBe(released);
  });

  it("is exact at 19, 20 and 21, and then holds all of them, each for the sum", () => {
    const at = (...counts: number[]) =>
      judged(
        counts.map((count, index) => destruction(`e${index}`, count, 10)),
        1_000,
      );
    expect(at(5, 5, 5, 4)).toEqual(["e0 released", "e1 released", "e2 released", "e3 released"]);
    expect(at(5, 5, 5, 5)).toEqual(["e0 released", "e1 released", "e2 released", "e3 released"]);
    expect(at(5, 5, 5, 5, 1)).toEqual([
      "e0 held by run",
      "e1 held by run",
      "e2 held by run",
      "e3 held by run",
      "e4 held by run",
    ]);
  });

  it.each(removedThings)("is exact for %s at one below it, at it and one above it", (thing) => {
    const of = (last: number) =>
      judged(
        [5, 5, 5, last].map((count, index) => ({ holdables: [holdable(`e${index}`, { thing, count })], live: {} })),
        0,
        { all: { [thing]: 100 } },
      );
    expect([of(4), of(5)].flat().every((text) => text.endsWith("released"))).toBe(true);
    const extra = { holdables: [holdable("x", { thing, count: 1 })], live: {} };
    const over = judged(
      [
        ...[5, 5, 5, 5].map((count, index) => ({ holdables: [holdable(`e${index}`, { thing, count })], live: {} })),
        extra,
      ],
      0,
      { all: { [thing]: 100 } },
    );
    expect(over.every((text) => text.endsWith("held by run"))).toBe(true);
  });

  it("never allows more than half of what there is, but always 5, unless the share says more", () => {
    const of = (count: number, live: number, limits = defaults) =>
      judged([destruction("a", count, live)], live, { limits: { ...limits, enterprise: { floor: 100, share: 0 } } });
    const [is, held] = [["a released"], ["a held by run"]];
    expect([of(5, 5), of(6, 6), of(5, 9), of(6, 9), of(6, 12), of(7, 12)]).toEqual([is, held, is, held, is, held]);
    const all = { floor: 0, share: 1 };
    expect(of(9, 9, { ...defaults, run: all, day: all, week: all })).toEqual(is);
  });

  it("is exact at the share: 29, 30 and 31 of 3,000", () => {
    const verdicts = (extra: number, live: number) =>
      new Set(judged(forty(extra), live).map((text) => text.split(" ").slice(1).join(" ")));
    expect(verdicts(-1, 3_000)).toEqual(new Set(["released"]));
    expect(verdicts(0, 3_000)).toEqual(new Set(["released"]));
    expect(verdicts(1, 3_000)).toEqual(new Set(["held by run"]));
    expect(verdicts(0, 2_999)).toEqual(new Set(["held by run"]));
  });

  it("prints the sum of the run, not the customer's part", () => {
    const [verdict] = heldOf(forty(1), { all: { seats: 3_000 } }).values();
    expect(verdict).toMatchObject({ count: 31, allowed: 30, total: 3_000 });
    expect(verdict?.explanation).toBe(
      "31 of 3,000 (1.0 %) seats of the whole run would have been removed; 30 are allowed: the larger of 20 and 1 %",
    );
  });

  it("counts what an enterprise's own limit holds too: a mass deletion in one place lets nothing through elsewhere", () => {
    expect(judged([destruction("a", 100, 100), destruction("b", 1, 10)], 1_000)).toEqual([
      "a held by enterprise",
      "b held by run",
    ]);
    expect(judged([destruction("a", 6, 10), destruction("b", 5, 10)], 1_000)).toEqual([
      "a held by enterprise",
      "b released",
    ]);
  });

  it("counts what is asked of all along", () => {
    const of = (count: number) =>
      judged([destruction("a", 1, 10)], 1_000, { asked: { b: removed("x", "seats", count) } });
    expect([of(19), of(20)]).toEqual([["a released"], ["a held by run"]]);
  });
});

describe.each([
  ["day", 40, "24 hours"],
  ["week", 100, "7 days"],
] as const)("the limit of a %s: %i, or a share of all that is live and was taken in it", (scope, floor, span) => {
  const before = (thing: RemovedThing, count: number): Windows => ({
    ...never,
    [scope]: { ...nothing, [thing]: count },
  });

  it.each(removedThings)(
    "is exact for %s at one below it, at it and one above it, with what was taken before",
    (thing) => {
      const of = (count: number) =>
        judged([{ holdables: [holdable("a", { thing, count: 3 })], live: {} }], 0, {
          all: { [thing]: floor + 3 },
          windows: before(thing, count),
        });
      expect([of(floor - 4), of(floor - 3), of(floor - 2)]).toEqual([
        ["a released"],
        ["a released"],
        [`a held by ${scope}`],
      ]);
    },
  );

  it("takes its share of what is live and was taken together", () => {
    const { share } = defaults[scope];
    const live = Math.ceil((floor + 10) / share);
    const taken = floor + 5;
    const allowed = Math.floor((live + taken) * share);
    const at = (count: number) =>
      judged([destruction("a", count, 1_000)], live, {
        windows: before("seats", taken),
        limits: { ...defaults, run: { floor: 1_000, share: 0 }, enterprise: { floor: 1_000, share: 0 } },
      });
    expect([at(allowed - taken), at(allowed - taken + 1)]).toEqual([["a released"], [`a held by ${scope}`]]);
  });

  it("holds all that takes away in the run, and says what went before", () => {
    const held = heldOf([destruction("a", 3, 10), { holdables: [holdable("b", { thing: "products" })], live: {} }], {
      all: { seats: 1_000 },
      windows: before("seats", floor),
    });
    expect([...held.values()].map((why) => why.scope)).toEqual([scope, scope]);
    const { share } = defaults[scope];
    const percent = (((floor + 3) / (1_000 + floor)) * 100).toFixed(1);
    expect([...held.values()][0]?.explanation).toBe(
      `${floor + 3} of ${(1_000 + floor).toLocaleString("en")} (${percent} %) seats would have been removed within ` +
        `${span}, ${floor} of them before this run; ${Math.max(floor, Math.floor((1_000 + floor) * share))} are ` +
        `allowed: the larger of ${floor} and ${share * 100} %`,
    );
  });

  it("counts what is asked along with what was taken before", () => {
    const of = (count: number) =>
      judged([destruction("a", 1, 10)], 0, {
        all: { seats: floor + 2 },
        windows: before("seats", floor - 2),
        asked: { b: removed("x", "seats", count) },
      });
    expect([of(1), of(2)]).toEqual([["a released"], [`a held by ${scope}`]]);
  });

  it("stops nothing in a run that takes nothing of what is over it", () => {
    const around = { windows: before("products", 10_000), all: { products: 0 } };
    expect(judged([destruction("a", 3, 10)], 1_000_000, around)).toEqual(["a released"]);
  });

  it("says nothing of what went before where nothing did", () => {
    const enough = { floor: 1_000, share: 0 };
    const limits = { ...defaults, enterprise: enough, run: enough, [scope]: { floor: 1, share: 0 } };
    const [why] = heldOf([destruction("a", 2, 10)], { limits, all: { seats: 1_000 } }).values();
    expect(why?.explanation).toContain(`seats would have been removed within ${span}; 1 are allowed`);
  });
});

describe("what a policy holds", () => {
  const words = (word: PolicyWord, earned = 0): HoldRule => ({ word: () => word, earned: () => earned, toEarn: 10 });

  it("waits for a person whatever the limits allow, says why, and is counted by no limit", () => {
    const items = [
      {
        holdables: [holdable("a", { count: 100, hash: "held", policy: "orders.cancelled", thing: "products" })],
        live: {},
      },
      { holdables: [holdable("a", { hash: "free", policy: "assignments.revoked" })], live: {} },
    ] satisfies Destruction[];
    const rule: HoldRule = { ...applies, word: (policy) => (policy === "orders.cancelled" ? "ask" : "apply") };
    expect(judged(items, 1_000, { rule })).toEqual(["a held by policy", "a released"]);
    expect(heldOf(items, { rule }).get("held")?.explanation).toBe("policies.orders.cancelled is ask");
  });

  it("goes by itself once ten operations under it were approved in this ledger, and then limits rule", () => {
    const one = (count: number, earned: number) =>
      judged([{ holdables: [holdable("a", { count })], live: {} }], 1_000, {
        rule: words("apply-after-approvals", earned),
      });
    expect([one(1, 0), one(1, 9), one(1, 10), one(6, 10)]).toEqual([
      ["a held by policy"],
      ["a held by policy"],
      ["a released"],
      ["a held by enterprise"],
    ]);
    const [why] = heldOf([destruction("a", 1, 1)], { rule: words("apply-after-approvals", 4) }).values();
    expect(why).toMatchObject({ explanation: "policies.assignments.revoked is apply-after-approvals", toEarn: 10 });
  });

  it("is earned by itself, whatever the kind of the operation", () => {
    const rule: HoldRule = {
      ...words("apply-after-approvals"),
      earned: (policy) => (policy === "orders.ended" ? 10 : 9),
    };
    const holdables = (["orders.ended", "orders.cancelled"] as const).map((policy) =>
      holdable("a", { policy, hash: policy, kind: "delete-products", thing: "products" }),
    );
    expect(judged([{ holdables, live: {} }], 1_000, { rule })).toEqual(["a released", "a held by policy"]);
  });

  it("holds what takes nothing away too", () => {
    const harmless = holdable("a", { thing: undefined, removes: none, weight: noWeight, hash: "h" });
    expect(heldOf([{ holdables: [harmless], live: {} }], { rule: words("ask") }).get("h")).toMatchObject({
      scope: "policy",
      policy: "assignments.revoked",
      explanation: "policies.assignments.revoked is ask",
    });
  });

  it.each([
    ["asked", "a person was asked about it before"],
    ["approved", "a person approved it before"],
    ["rejected", "a person rejected it before"],
  ] as const)(
    "and what changed since a person was shown it (%s) is asked anew, whatever the limits allow",
    (state, said) => {
      const askedBefore = [{ id: 1, state }];
      expect([...heldOf([{ holdables: [holdable("a", { askedBefore })], live: {} }]).values()]).toMatchObject([
        { scope: "operation", explanation: `${said}, and it has changed since` },
      ]);
    },
  );

  it("says of how many it holds how many there are", () => {
    expect([...heldOf([destruction("a", 1, 4)], { rule: words("ask") }).values()]).toMatchObject([
      { count: 1, allowed: 0, total: 4 },
    ]);
  });

  it("holds nothing that no policy rules", () => {
    const free = { holdables: [holdable("a", { policy: undefined })], live: { seats: 10 } };
    expect(judged([free], 1_000, { rule: words("ask") })).toEqual(["a released"]);
  });

  it("is outranked by what is approved alone, by a record that goes to and fro, and by what a rebuild forgot", () => {
    const items = [
      { holdables: [holdable("a", { hash: "alone", alone: true })], live: {} },
      {
        holdables: [holdable("b", { hash: "flips", flips: "the CRM changed order crm/1 to and fro 5 times" })],
        live: {},
      },
      { holdables: [holdable("c", { hash: "rebuilt", rebuilt: true })], live: {} },
    ];
    expect(judged(items, 0)).toEqual(["a held by operation", "b held by flips", "c held by rebuilt"]);
    expect(heldOf(items).get("alone")?.explanation).toBe(
      "each operation of this kind (revoke-assets) is approved alone",
    );
    expect(heldOf(items).get("rebuilt")?.explanation).toMatch(/^the ledger was built anew, and .* rejected this, /u);
    expect(heldOf(items).get("flips")?.explanation).toBe("the CRM changed order crm/1 to and fro 5 times");
  });
});

describe("what a person is asked", () => {
  const why = (scope: HeldFor["scope"], explanation: string, policy?: HeldFor["policy"]): HeldFor => ({
    scope,
    explanation,
    count: 1,
    allowed: 0,
    total: 1,
    ...(policy !== undefined && { policy }),
  });
  /** The questions about these, each an operation of its own. */
  const asked = (held: readonly HeldFor[], fields: Partial<Holdable> = {}) => {
    const holdables = held.map((_, index) => holdable("a", { hash: String(index), ...fields }));
    return questionsOf(holdables, new Map(held.map((one, index) => [String(index), one])));
  };

  it("is one thing: a limit, one policy, or an operation that is approved alone", () => {
    const questions = asked([
      why("run", "r"),
      why("policy", "p", "orders.deleted"),
      why("run", "r"),
      why("policy", "q", "orders.moved"),
      why("policy", "p", "orders.deleted"),
    ]);
    expect(
      questions.map(({ scope, policy, holdables }) => [scope, policy, holdables.map(({ holdable: { hash } }) => hash)]),
    ).toEqual([
      ["run", undefined, ["0", "2"]],
      ["policy", "orders.deleted", ["1", "4"]],
      ["policy", "orders.moved", ["3"]],
    ]);
    const alone = ["x", "y"].map((hash) => holdable("a", { hash, alone: true }));
    expect(questionsOf([...alone, holdable("a")], heldOf([{ holdables: alone, live: {} }]))).toHaveLength(2);
  });

  it("says of each operation why it is held", () => {
    expect(asked([why("policy", "p"), why("policy", "q")])).toMatchObject([
      { holdables: [{ reason: "p" }, { reason: "q" }] },
    ]);
  });
});

describe("a share", () => {
  it("allows exactly what it says, whatever binary fractions make of it", () => {
    for (let percent = 1; percent <= 100; percent += 1) {
      for (let live = 0; live <= 1_000; live += 1) {
        const allowed = allowedBy({ floor: 0, share: percent / 100 }, live);
        if (allowed !== Math.floor((live * percent) / 100))
          throw new Error(`${percent} % of ${live} is not ${allowed}`);
      }
    }
    expect(allowedBy({ floor: 0, share: 0.29 }, 100)).toBe(29);
    expect(allowedBy({ floor: 0, share: 0.29 }, 99)).toBe(28);
    expect(allowedBy({ floor: 0, share: 0 }, 1_000_000)).toBe(0);
  });

  it("is printed as a person writes it", () => {
    const [verdict] = heldOf([destruction("a", 8, 100)], {
      limits: { ...defaults, enterprise: { floor: 0, share: 0.07 } },
    }).values();
    expect(verdict?.explanation).toContain("7 are allowed: the larger of 0 and 7 %");
  });
});

describe("while revokes are held", () => {
  const own = customer();
  const it1 = order("1", { instances: [asset("i"), product("p", "i")] });
  const [ann, bob, eve] = [
    staff("ann"),
    staff("bob", { assets: [{ instanceId: "i" }] }),
    staff("eve", { assets: [{ assetNumber: "N2" }, { assetNumber: "N3" }] }),
  ];
  const planned = plan({
    customer: own,
    staff: [ann, bob, eve, staff("new", { assets: [{ assetNumber: "N4" }] })],
    known: linked(own, {
      staffLinks: staffLinks(ann, bob, eve),
      placedOrders: placed(it1),
      numbers: fixed("1", "i", "N1"),
      assignments: [assignment(ann, "N1"), assignment(ann, "N2")],
    }),
    observed: shown(["ann", "bob", "eve"], { N1: "ann", N2: "ann", N3: null, N4: null }),
  });

  const held = new Set(planned.operations.filter((item) => item.takesAway > 0).map(({ hash }) => hash));

  it("they stay, and with them the grants that need them, named by number or by unit; the rest goes on", () => {
    expect(lines(planned)).toEqual([
      "add-staff staff-of:crm/ALFKI",
      "revoke-assets staff:crm/ann N1 N2",
      "grant-assets staff:crm/bob N1",
      "grant-assets staff:crm/eve N2 N3",
      "grant-assets staff:crm/new N4",
    ]);
    expect(withoutHeld(planned.operations, held).map((item) => item.subject)).toEqual([
      "staff-of:crm/ALFKI",
      "staff:crm/new",
    ]);
  });

  it("what needs a held one waits too, and what needs that", () => {
    const [first, , ...others] = planned.operations;
    const eves = { stage: "grants" as const, subject: "staff:crm/eve" };
    const chain = [
      ...planned.operations.slice(0, 2),
      ...others.map((item) => (item.subject === "staff:crm/new" ? { ...item, needs: [eves] } : item)),
    ];
    expect(withoutHeld(chain, held)).toEqual([first]);
  });

  it("and without one, everything goes on", () => {
    const harmless = planned.operations.filter((item) => item.takesAway === 0);
    expect(withoutHeld(harmless, new Set())).toEqual(harmless);
    expect(withoutHeld(planned.operations, new Set()), "what is free goes with what needs it").toEqual(
      planned.operations,
    );
  });
});
