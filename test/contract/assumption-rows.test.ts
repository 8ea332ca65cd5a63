import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { assumptions } from "../../src/contract/assumptions/assumptions.ts";
import { cannotBeSeen, evidenceOfRows } from "../../src/contract/assumptions/evidence.ts";
import { contradictedRows } from "../../src/sandbox/contradicted-rows.ts";

/** The tests that make each choice in each of its ways, by row. */
const exercised: Readonly<Record<string, readonly (readonly [file: string, title: string])[]>> = {
  A4: [["scenarios/choices.test.ts", "A4: each attempt has a nonce of its own"]],
  A6: [
    ["scenarios/choices.test.ts", "is that of Authorization where nothing is said"],
    ["scenarios/choices.test.ts", "is the one of its own where there is one"],
  ],
  A7: [["scenarios/choices.test.ts", "A7: an enterprise with a userToken of its own is reached by that one"]],
  A11: [
    ["scenarios/life/bind-by-source.test.ts", "is bound by E1, its neighbours are made by E2"],
    ["cli/bound-enterprise.test.ts", "and no E4 unless the setting says so"],
  ],
  A18: [["scenarios/choices.test.ts", "of the shape %s has these fields more than the contract lists"]],
  A30: [
    ["scenarios/choices.test.ts", "is the one of the CRM where that is said"],
    ["scenarios/choices.test.ts", "is generated, and handed out once"],
    ["plan/staff.test.ts", "waits where no key seals passwords, and everything else goes on"],
  ],
  A32: [["scenarios/choices.test.ts", "A32: a department is named for who has none where that is said"]],
  A37: [
    [
      "faults/permits.test.ts",
      "a kill with more work than permits leaves at most callsAtOnce of each service in doubt",
    ],
    ["faults/rate-control.test.ts", "service: { callsAtOnce: 8, callsPerSecond: 50 }"],
    ["http/reads.test.ts", "is called less when it says 500 or 429"],
  ],
  A40: [
    ["plan/locks.test.ts", "nothing is sent without the role that asks for it (A40)"],
    ["cli/lock.test.ts", "are previewed, disabled, enabled, and told of in explain"],
  ],
};

describe("each row of A1–A43", () => {
  const contradicted: readonly string[] = contradictedRows;
  const unseen = (id: (typeof assumptions)[number]["id"]): boolean =>
    evidenceOfRows.get(id)?.contradictedBy.startsWith(cannotBeSeen) === true;

  test("is contradicted by a test, exercised as a choice, or named with why nothing can contradict it", () => {
    for (const { id, kind } of assumptions) {
      const ways = [contradicted.includes(id), id in exercised, unseen(id)].filter(Boolean);
      expect(ways, id).toHaveLength(1);
      expect(id in exercised, id).toBe(kind === "choice");
    }
  });

  test("that nothing can contradict says why, stops nothing, and is told of so in the reference", () => {
    const page = readFileSync("docs/assumptions.md", "utf8");
    const rows = assumptions.filter(({ id }) => unseen(id));
    expect(rows.map(({ id }) => id)).toEqual(["A3", "A5", "A38", "A42"]);
    for (const { id } of rows) {
      const evidence = evidenceOfRows.get(id);
      expect(evidence?.contradictedBy.length, id).toBeGreaterThan(cannotBeSeen.length + 20);
      expect(evidence?.stops, id).toBe("nothing");
      expect(page, id).toContain(evidence?.contradictedBy);
    }
  });

  test("that is a choice of ours is made in tests that are there", () => {
    for (const [id, tests] of Object.entries(exercised))
      for (const [file, title] of tests) expect(readFileSync(`test/${file}`, "utf8"), id).toContain(title);
  });
});
