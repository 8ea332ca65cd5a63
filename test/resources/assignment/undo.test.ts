import { expect, it } from "vitest";
import { planInputOf } from "../../../src/engine/plan/input.ts";
import type { LastGiven, Undoing } from "../../../src/engine/plan/undo.ts";
import { assignment } from "../../../src/resources/assignment/index.ts";
import { standardRules } from "../../support/world/rules.ts";
import {
  assignment as assigned,
  enterpriseGlobalId,
  people,
  plan,
  settingsWith,
  shown,
  situation,
  staff,
  staffLink,
} from "../../engine/situation.ts";

const ann = staff("ann");
const settings = settingsWith();

/** What takes the revoke of N1 and N2 back, where M6 shows nobody with either. */
function undone(lastGiven: Record<string, LastGiven>) {
  const known = { staffLinks: staffLink(ann), assignments: [assigned(ann, "N1"), assigned(ann, "N2")] };
  const held = shown(["ann"], { N1: "ann", N2: "ann" });
  const [revoke] = plan(people({ staff: [ann], known, observed: held })).operations;
  if (revoke?.kind !== "revoke-assets") throw new Error("nothing was revoked");
  const context = {
    enterpriseGlobalId,
    memberGlobalId: "M-ann",
    staff: ann.key,
    deleteAssets: ["N1", "N2"],
    addAssets: [],
  };
  const row = { id: "op-1", updatedAt: "2026-10-01T08:00:00.000Z", operation: revoke, context };
  const now = { staffLinks: staffLink(ann), assignments: [] };
  const free = shown(["ann"], { N1: null, N2: null });
  const of: Undoing = {
    run: "run r",
    given: planInputOf(situation(people({ staff: [ann], known: now, observed: free })), settings),
    rows: [row],
    facts: {
      orders: new Map(),
      customerForms: [],
      staffForms: new Map(),
      linkedSince: new Map(),
      lastGiven: new Map(Object.entries(lastGiven)),
      newestOn: new Map(),
      isKept: () => true,
    },
    options: { ...standardRules, settings, canSeal: true, removalsBlocked: undefined },
    freed: new Set(),
    firstOf: (_name, id) => id,
    revokesOf: () => [],
  };
  return assignment.undo["revoke-assets"](row, of);
}

const byThis: LastGiven = { givenBy: "op-0", takenBy: "op-1", isHeld: false };
const bySomethingNewer: LastGiven = { givenBy: "op-2", takenBy: "op-3", isHeld: false };

it("an undone revoke gives back what it took", () => {
  expect(undone({ N1: byThis, N2: byThis })).toMatchObject({ meant: [{ after: ["N1", "N2"] }], lacks: undefined });
});

it("an undone revoke says that it leaves what was assigned again since", () => {
  expect(undone({ N1: bySomethingNewer, N2: byThis })).toMatchObject({
    meant: [{ after: ["N2"] }],
    lacks: "assets that were assigned again since stay",
  });
});
