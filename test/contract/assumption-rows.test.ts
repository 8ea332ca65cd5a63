import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { assumptions } from "../../src/contract/assumptions/registry.ts";
import { cannotBeSeen, evidenceOfRows } from "../../src/contract/assumptions/evidence.ts";
import { contradictedRows } from "../../src/sandbox/sandbox-settings.ts";

describe("each row of A1–A43", () => {
  const contradicted: readonly string[] = contradictedRows;
  const unseen = (id: (typeof assumptions)[number]["id"]): boolean =>
    evidenceOfRows.get(id)?.contradictedBy.startsWith(cannotBeSeen) === true;

  test("is contradicted by a case of the sandbox, is a choice of ours, or says why nothing can contradict it", () => {
    for (const { id, kind } of assumptions) {
      const ways = [contradicted.includes(id), kind === "choice", unseen(id)].filter(Boolean);
      expect(ways, id).toHaveLength(1);
    }
  });

  test("that nothing can contradict says why, stops nothing, and is told of so in the reference", () => {
    const page = readFileSync("docs/reference/assumptions.md", "utf8");
    const rows = assumptions.filter(({ id }) => unseen(id));
    expect(rows.map(({ id }) => id)).toEqual(["A3", "A5", "A38", "A42"]);
    for (const { id } of rows) {
      const evidence = evidenceOfRows.get(id);
      expect(evidence?.contradictedBy.length, id).toBeGreaterThan(cannotBeSeen.length + 20);
      expect(evidence?.stops, id).toBe("nothing");
      expect(page, id).toContain(evidence?.contradictedBy);
    }
  });
});
