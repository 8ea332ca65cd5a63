import { describe, expect, it } from "vitest";
import { allowedBy, judgeLimits, withoutHeld } from "../../src/plan/limits.ts";
import type { Destruction, Verdict } from "../../src/plan/limits.ts";
import { limitsSettingsSchema } from "../../src/run/run-settings.ts";
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

const defaults = limitsSettingsSchema.parse({}).revokes;

function destruction(id: string, count: number, live: number, approved = false): Destruction {
  return { customer: { namespace: "crm", id }, count, live, approved };
}

function judged(items: Destruction[], liveInAll: number): string[] {
  return judgeLimits(items, defaults, liveInAll).map(
    (verdict) => `${verdict.customer.id} ${verdict.released ? "released" : `held by ${verdict.scope}`}`,
  );
}

function only(count: number, live: number, liveInAll: number): Verdict {
  const [verdict] = judgeLimits([destruction("a", count, live)], defaults, liveInAll);
  if (verdict === undefined) throw new Error("no verdict");
  return verdict;
}

describe("the limit of one enterprise: 5, or 5 % of what is assigned there", () => {
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
  ])("of %i assignments, %i taken away: released %s", (live, count, released) => {
    expect(only(count, live, 1_000_000).released).toBe(released);
  });

  it("prints the sum when it holds", () => {
    expect(only(11, 200, 1_000_000)).toMatchObject({
      released: false,
      scope: "enterprise",
      count: 11,
      allowed: 10,
      total: 200,
      explanation:
        "11 of 200 (5.5 %) assignments of this enterprise would be taken away; 10 are allowed: the larger of 5 and 5 %",
    });
    expect(only(6, 0, 1_000_000).explanation).toBe(
      "6 of 0 assignments of this enterprise would be taken away; 5 are allowed: the larger of 5 and 5 %",
    );
  });
});

describe("the limit of one run: 20, or 1 % of all that is assigned", () => {
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
    [0, 5, true],
  ])("with %i assigned in all and %i in the last of four enterprises: released %s", (liveInAll, last, released) => {
    expect(judgeLimits(four(last), defaults, liveInAll).every((verdict) => verdict.released)).toBe(released);
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

  it("is exact at the share: 29, 30 and 31 of 3,000", () => {
    expect(new Set(judged(forty(-1), 3_000).map((text) => text.split(" ").slice(1).join(" ")))).toEqual(
      new Set(["released"]),
    );
    expect(new Set(judged(forty(0), 3_000).map((text) => text.split(" ").slice(1).join(" ")))).toEqual(
      new Set(["released"]),
    );
    expect(new Set(judged(forty(1), 3_000).map((text) => text.split(" ").slice(1).join(" ")))).toEqual(
      new Set(["held by run"]),
    );
    expect(new Set(judged(forty(0), 2_999).map((text) => text.split(" ").slice(1).join(" ")))).toEqual(
      new Set(["held by run"]),
    );
  });

  it("prints the sum of the run, not the customer's part", () => {
    const [verdict] = judgeLimits(forty(1), defaults, 3_000);
    expect(verdict).toMatchObject({ count: 4, allowed: 30, total: 3_000 });
    expect(verdict?.explanation).toBe(
      "31 of 3000 (1.0 %) assignments of the whole run would be taken away; 30 are allowed: the larger of 20 and 1 %",
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

  it("does not count what a person approved, and releases it", () => {
    expect(judged([destruction("a", 100, 100, true), destruction("b", 5, 10)], 1_000)).toEqual([
      "a released",
      "b released",
    ]);
    expect(judged([destruction("a", 100, 100, true), destruction("b", 6, 10)], 1_000)).toEqual([
      "a released",
      "b held by enterprise",
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
    const [verdict] = judgeLimits(
      [destruction("a", 8, 100)],
      { ...defaults, enterprise: { floor: 0, share: 0.07 } },
      10_000,
    );
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

  it("they stay, and with them the grants that need them, named by number or by unit; the rest goes on", () => {
    expect(lines(planned)).toEqual([
      "add-staff staff-of:crm/ALFKI",
      "revoke-assets staff:crm/ann N1 N2",
      "grant-assets staff:crm/bob N1",
      "grant-assets staff:crm/eve N2 N3",
      "grant-assets staff:crm/new N4",
    ]);
    expect(withoutHeld(planned.operations).map((item) => item.subject)).toEqual([
      "staff-of:crm/ALFKI",
      "staff:crm/new",
    ]);
  });

  it("and where there is none, everything goes on", () => {
    const harmless = planned.operations.filter((item) => item.takesAway === 0);
    expect(withoutHeld(harmless)).toEqual(harmless);
  });
});
