import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { byPython, exportOf, hasPython, lived, verifierAlone } from "../../support/audit-record.ts";
import { auditEntries } from "../../support/asking.ts";
import { document, type World } from "../../support/cli.ts";

/** A ledger that was restored and rebuilt, and lived on; `lostHeads` are from before that. */
async function restoredOnce(): Promise<{ w: World; lostHeads: string; from: number; until: number }> {
  const w = await lived();
  const backup: string = document(await w.run("--json", "backup", "--to", w.path("backups"))).path;
  const last = async (): Promise<number> => (await w.ask("audit", "head")).sequence;
  const from = (await last()) + 1;
  const [order] = w.orders;
  w.orders = order === undefined ? [] : [...w.orders, { ...order, id: "77", assets: ["A77"], products: [] }];
  w.write();
  for (const _ of [1, 2, 3]) await w.run("run", "everything");
  const until = await last();
  expect(until).toBeGreaterThan(from);
  const lostHeads = w.path("copy.heads");
  copyFileSync(w.path("ledger.db.heads"), lostHeads);
  expect((await w.run("restore", backup)).exitCode).toBe(3);
  await w.run("rebuild", "--by", "anna");
  await w.run("run", "everything");
  return { w, lostHeads, from, until };
}

it(
  "an export of a ledger that was restored is never good to anybody: it is said which entries are lost",
  { tags: "long" },
  async () => {
    const { w, lostHeads, from, until } = await restoredOnce();
    const verify = verifierAlone();
    const file = await exportOf(w);
    const gap = (await auditEntries(w)).find(({ kind }) => kind === "gap");
    const lost = `LOST: entries ${from} to ${until} are lost, as entry ${gap.sequence} says`;
    for (const heads of [[], [lostHeads], [w.path("ledger.db.heads")]]) {
      const { code, said } = verify(file, ...(heads.length > 0 ? ["--heads", ...heads] : []));
      expect([code, said], heads.join(" ")).toEqual([3, expect.stringContaining(lost)]);
      expect(said).not.toContain("good:");
    }
    expect(verify(file, "--heads", lostHeads).said).toContain("are of entries that are lost");
    if (!hasPython) return;
    const python = `entries from ${from} to ${until} are lost, as entry ${gap.sequence} says\n`;
    expect(byPython(file)).toEqual({ code: 3, said: python });
  },
);

it("a head that no gap explains is bad, whatever else was lost", { tags: "long" }, async () => {
  const { w, lostHeads, from, until } = await restoredOnce();
  const verify = verifierAlone();
  const file = await exportOf(w);
  const kept = readFileSync(lostHeads, "utf8").trim().split("\n").at(-1) ?? "";
  const head: Record<string, unknown> = JSON.parse(kept);
  const judged = (more: Record<string, unknown>): unknown[] => {
    const heads = w.path("other.heads");
    writeFileSync(heads, `${JSON.stringify({ ...head, ...more })}\n`);
    const { code, said } = verify(file, "--heads", heads);
    return [code, said.split(":")[0]];
  };
  const later = "2999-01-01T00:00:00.000Z";
  expect(judged({})).toEqual([3, "LOST"]);
  expect(judged({ commit: undefined })).toEqual([3, "LOST"]);
  // Of an entry that is there since before the backup, kept since the restore, or of one that was never lost.
  expect(judged({ sequence: from - 1, root: undefined })).toEqual([1, "BAD record-rewritten"]);
  expect(judged({ sequence: from, root: undefined, commit: 99_999 })).toEqual([1, "BAD record-rewritten"]);
  expect(judged({ sequence: from, root: undefined, commit: undefined, at: later })).toEqual([
    1,
    "BAD record-rewritten",
  ]);
  expect(judged({ sequence: until + 9_999, commit: undefined })).toEqual([1, "BAD cut-off"]);
});
