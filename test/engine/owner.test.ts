import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { counts, namedOwner, ownerOf, ownerOfQuarantine, waitsForNextRun } from "../../src/engine/plan/owner.ts";

const source = join(import.meta.dirname, "../../src");

/** Every code with which the engine and resources stop a record, as it stands in their text. */
function codes(): string[] {
  const found = new Set<string>();
  for (const room of ["engine", "resources", "recovery"]) {
    const files = readdirSync(join(source, room), { recursive: true, encoding: "utf8" });
    for (const file of files.filter((name) => name.endsWith(".ts"))) {
      const text = readFileSync(join(source, room, file), "utf8");
      for (const [, code = ""] of text.matchAll(/(?:code: |blocked\(\s*|deferAll\(\s*)"([a-z-]+\.[a-z-]+)"/gu))
        found.add(code);
    }
  }
  return [...found]
    .filter((code) => !/^(?:backup|config|hold|ledger|record|restore|settle|source)\./u.test(code))
    .sort();
}

it("every code that stops a record has an owner", () => {
  expect(codes().length).toBeGreaterThan(30);
  expect(codes().filter((code) => namedOwner(code) === undefined)).toEqual([]);
});

it("an exact code outranks its area, and what no table names is the program's own", () => {
  expect(ownerOf("assumption.missing")).toBe("configuration");
  expect(ownerOf("staff.bad-mobile")).toBe("crm");
  expect(ownerOf("staff.protected")).toBe("configuration");
  expect(ownerOf("nothing.like-it")).toBe("program");
  expect(ownerOfQuarantine("missing")).toBe("crm");
  expect(ownerOfQuarantine("claimed-twice")).toBe("configuration");
});

it("what a person decided, and what the next run does by itself, is shown and not counted", () => {
  expect(["revokes.rejected", "customer.gone", "run.stopped", "run.scope"].filter(counts)).toEqual([]);
  expect(["customer.stale", "run.failed", "rejected.13004"].filter((code) => !counts(code))).toEqual([]);
  expect(["run.stopped", "run.scope", "customer.gone"].filter(waitsForNextRun)).toEqual(["run.stopped", "run.scope"]);
});
