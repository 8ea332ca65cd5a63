import { expect, it } from "vitest";
import { KnownSecrets } from "../../src/base/known-secrets.ts";
import { readWithoutSecrets } from "../../src/source/without-secrets.ts";

it("keeps no position and no cursor that holds a secret, and keeps the others", async () => {
  const known = new KnownSecrets();
  known.add("Ab9xQ7zLm2");
  const kept: string[] = [];
  const ends: unknown[] = [];
  for (const cursor of ["2026-10-01", "/next?key=Ab9xQ7zLm2"]) {
    const reading = readWithoutSecrets(
      async function* read({ reached }) {
        reached?.(cursor);
        yield [];
        return { complete: true, full: true, rows: 0, cursor };
      },
      { reached: (position) => void kept.push(position) },
      { known, keepsText: true },
    );
    await reading.next();
    ends.push((await reading.next()).value);
  }
  expect(kept).toEqual(["2026-10-01"]);
  expect(ends).toEqual([
    { complete: true, full: true, rows: 0, cursor: "2026-10-01" },
    { complete: true, full: true, rows: 0 },
  ]);
});
