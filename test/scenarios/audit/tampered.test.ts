import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { auditHash } from "../../../src/ledger/audit/audit-log.ts";
import { RecordTree } from "../../../src/ledger/audit/kept-tree.ts";
import { auditEntries } from "../../support/asking.ts";
import { exportOf, lived, verifierAlone } from "../../support/audit-record.ts";
import type { World } from "../../support/cli.ts";

/** Puts a ledger and its heads where they were, or where others were. */
function lay(w: World, { ledger, heads }: { ledger: Buffer; heads: string }): void {
  for (const suffix of ["-wal", "-shm"]) writeFileSync(w.path(`ledger.db${suffix}`), "");
  writeFileSync(w.path("ledger.db"), ledger);
  writeFileSync(w.path("ledger.db.heads"), heads);
}

/** Changes the record of a ledger as somebody could who lifts its guards and puts them back. */
function change(w: World, sql: string): void {
  const guards = w.rows<{ name: string; sql: string }>(
    "select name, sql from sqlite_schema where type = 'trigger' and tbl_name like 'audit%'",
  );
  const lifted = guards.map(({ name }) => `drop trigger ${name};`);
  const back = guards.map((guard) => `${guard.sql};`);
  w.tamper([...lifted, sql, ";", ...back].join("\n"));
}

describe("a ledger that somebody has the file of", () => {
  it("names by its own word what was done to it, with the first entry that is wrong", async () => {
    const w = await lived();
    const { sequence: last } = await w.ask("audit", "head");
    const good = { ledger: readFileSync(w.path("ledger.db")), heads: readFileSync(w.path("ledger.db.heads"), "utf8") };
    const changed = (sql: string) => (): void => change(w, sql);
    const cases: [string, () => void, RegExp][] = [
      [
        "one byte of an entry",
        changed("update audit set body = replace(body, '\"run\"', '\"ran\"') where sequence = 3"),
        /BAD at entry 3 \(entry-changed\)/u,
      ],
      [
        "the end",
        changed(`delete from audit where sequence > ${last - 2}`),
        /completeness +BAD at entry \d+ \(cut-off\)/u,
      ],
      ["one in the middle", changed("delete from audit where sequence = 4"), /BAD at entry 4 \(entry-missing\)/u],
      [
        "two that were swapped",
        changed(
          "update audit set sequence = -1 where sequence = 2; update audit set sequence = 2 where sequence = 3;" +
            "update audit set sequence = 3 where sequence = -1",
        ),
        /BAD at entry 2 \(entry-moved\)/u,
      ],
      ["the tree", changed("update audit_tree set roots = '[]'"), /\(tree-changed\)/u],
      [
        "a head",
        () => {
          const lines = good.heads.split("\n");
          const place = lines.findIndex((line) => line.includes('"sequence":3,'));
          lines[place] = (lines[place] ?? "").replace(/(?<="hash":")./u, (digit) => (digit === "a" ? "b" : "a"));
          writeFileSync(w.path("ledger.db.heads"), lines.join("\n"));
        },
        /BAD at entry 3 \(heads-disagree\)/u,
      ],
      ["a guard", () => w.tamper("drop trigger audit_refuses_delete"), /\(guard-missing\)/u],
      [
        "a guard that does nothing",
        () =>
          w.tamper(
            "drop trigger audit_refuses_delete; create trigger audit_refuses_delete before delete on audit begin select 1; end",
          ),
        /\(guard-missing\)/u,
      ],
      [
        "an entry far away",
        changed(
          "insert into audit select 9007199254740993, format, '2099-01-01T00:00:00.000Z', 'paid', subject, body, hash, hash, salt from audit where sequence = 1",
        ),
        /\(entry-missing\)/u,
      ],
    ];
    for (const [what, attack, named] of cases) {
      lay(w, good);
      attack();
      const ended = await w.run("audit", "verify");
      expect.soft([ended.exitCode, ended.stdout], what).toEqual([65, expect.stringMatching(named)]);
    }
    lay(w, good);
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
  });

  it(
    "that was written anew as a whole is found by the heads, also by a copy of them elsewhere",
    { tags: "long" },
    async () => {
      const w = await lived();
      copyFileSync(w.path("ledger.db.heads"), w.path("elsewhere.heads"));
      const entries = await auditEntries(w);
      const tree = new RecordTree();
      let previous = "";
      const updates = entries.map((row) => {
        const body = row.kind === "take-asset-numbers" ? '{"forged":true}' : row.body;
        const fresh = { ...row, body, previous };
        previous = auditHash(fresh);
        tree.take({ ...fresh, hash: previous });
        return `update audit set body = '${body.replaceAll("'", "''")}', previous = '${fresh.previous}', hash = '${previous}' where sequence = ${row.sequence};`;
      });
      change(w, `${updates.join("")} update audit_tree set roots = '${JSON.stringify(tree.leaves.roots)}'`);
      expect((await w.run("audit", "verify")).stdout).toMatch(/\(record-rewritten\)/u);
      // Whoever wrote it anew can write the file beside it anew as well.
      const { sequence, hash, root } = { sequence: entries.length, hash: previous, root: tree.leaves.root() };
      const heads = readFileSync(w.path("ledger.db.heads"), "utf8").split("\n").filter(Boolean);
      const { commit, at } = JSON.parse(heads.at(-1) ?? "{}");
      writeFileSync(w.path("ledger.db.heads"), `\n${JSON.stringify({ commit, sequence, hash, root, at })}`);
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
      const found = await w.run("audit", "verify", "--heads", w.path("elsewhere.heads"));
      expect([found.exitCode, found.stdout]).toEqual([
        65,
        expect.stringMatching(/\((?:heads-disagree|record-rewritten)\)/u),
      ]);
      const path = await exportOf(w);
      const verify = verifierAlone();
      expect(verify(path).code).toBe(0);
      expect(verify(path, "--heads", w.path("elsewhere.heads"))).toMatchObject({
        code: 1,
        said: expect.stringMatching(/^BAD record-rewritten/u),
      });
    },
  );

  it(
    "without its tree takes no entry more, and shows no head and no proof of another tree",
    { tags: "long" },
    async () => {
      const w = await lived();
      const good = {
        ledger: readFileSync(w.path("ledger.db")),
        heads: readFileSync(w.path("ledger.db.heads"), "utf8"),
      };
      change(w, "delete from audit_tree");
      expect((await w.run("run", "everything")).exitCode).toBe(65);
      lay(w, good);
      change(w, "update audit_tree set size = size + 1");
      for (const words of [
        ["audit", "head"],
        ["audit", "prove", "--order", "O1"],
      ])
        expect((await w.run(...words)).exitCode, words.join(" ")).toBe(65);
    },
  );
});

describe("a file of heads beside the ledger", () => {
  it(
    "that somebody changed is named, and one that a crash cut off, or left zeros in, is not",
    { tags: "long" },
    async () => {
      const w = await lived();
      const heads = w.path("ledger.db.heads");
      const good = readFileSync(heads, "utf8");
      const last = good.split("\n").at(-1) ?? "";
      const flipped = (at: number): string =>
        `${good.slice(0, at)}${String.fromCodePoint((good.codePointAt(at) ?? 0) ^ 1)}${good.slice(at + 1)}`;
      const start = good.indexOf('{"commit"', good.indexOf('"sequence":3,') - 20);
      for (let at = start; good[at] !== "\n"; at += 7) {
        // Nothing proves when a line was kept, and how many groups of work there were.
        if (/"(?:at|commit)":[^,]*$/u.test(good.slice(start, at))) continue;
        writeFileSync(heads, flipped(at));
        const { exitCode, stdout } = await w.run("audit", "verify");
        expect.soft([exitCode, stdout], flipped(at).slice(start, at + 9)).toEqual([65, expect.stringContaining("BAD")]);
      }
      for (const text of [
        `${good}\n${last.slice(0, 60)}`,
        `${good}\n${last.slice(0, 60)}\0\0\0`,
        `${good}\n\0\0\n${last}`,
      ]) {
        writeFileSync(heads, text);
        expect.soft((await w.run("audit", "verify")).exitCode, text.slice(good.length)).toBe(0);
      }
      for (const change of [() => writeFileSync(heads, ""), () => rmSync(heads)]) {
        change();
        const { exitCode, stdout } = await w.run("audit", "verify");
        expect([exitCode, stdout]).toEqual([3, expect.stringMatching(/^completeness +unknown: .*no head/mu)]);
      }
    },
  );
});
