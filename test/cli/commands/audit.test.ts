import { expect, it } from "vitest";
import { auditEntries } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";

it("exports the entries that its head stands for, and verifies that they are whole and new enough", async () => {
  const w = await world();
  await w.run("run", "everything");
  const [entries, head] = [await auditEntries(w), await w.ask("audit", "head")];
  expect(entries.at(-1)).toMatchObject({ sequence: head.sequence, hash: head.hash });
  const verified = await w.run("audit", "verify", "--within", "1h");
  expect(verified.exitCode, verified.stdout).toBe(0);
  expect(await w.ask("audit", "verify")).toMatchObject({ entries: entries.length, good: true });
  w.later(2);
  const late = await w.run("--json", "audit", "verify", "--within", "1h");
  expect([late.exitCode, JSON.parse(late.stdout)]).toMatchObject([3, { freshness: { good: false } }]);
});
