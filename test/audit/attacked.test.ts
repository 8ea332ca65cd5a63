import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { auditHash } from "../../src/ledger/audit/audit-log.ts";
import type { AuditRow } from "../../src/ledger/audit/audit-log.ts";
import { keptOf } from "../../src/ledger/audit/kept-tree.ts";
import { verifyRecord } from "../../src/ledger/audit/verify-log.ts";
import { lived } from "../support/audit-record.ts";
import { openLedger, sqlite } from "../support/world/start.ts";

const tables = ["audit", "audit_tree", "audit_tile"];

/** A ledger of an earlier version that went on: 33 entries from before the tree, and 300 in it. */
async function goneOn(): Promise<string> {
  const kept = join(import.meta.dirname, "../ledger/earlier");
  const { ledger: fresh, path } = await openLedger();
  fresh.close();
  for (const suffix of ["-wal", "-shm"]) writeFileSync(`${path}${suffix}`, "");
  writeFileSync(path, gunzipSync(readFileSync(join(kept, "ledger.db.gz"))));
  writeFileSync(`${path}.heads`, readFileSync(join(kept, "heads.ndjson")));
  const { ledger } = await openLedger({ path });
  for (let more = 0; more < 300; more += 1) await ledger.audit.append({ kind: "k", subject: "s", body: { more } });
  ledger.close();
  return path;
}

/** What is found in the ledger of a path, without a head from outside, as long as each of these statements holds. */
function attacked(path: string): (sql: string) => string | undefined {
  const database = sqlite(path);
  return (sql) => {
    database.exec(`begin; ${sql}`);
    try {
      const rows = database.prepare<[], AuditRow>("select * from audit order by sequence").all();
      const { integrity } = verifyRecord({ rows, heads: [], ...keptOf(database) });
      return integrity.good ? undefined : integrity.code;
    } finally {
      database.exec("rollback");
    }
  };
}

describe("a ledger whose guards were lifted and put back", () => {
  it("is found out for one character more, less or another in any column of any row", { tags: "long" }, async () => {
    const path = await goneOn();
    const found = attacked(path);
    const database = sqlite(path);
    const guards = database
      .prepare<[], { name: string; sql: string }>(
        "select name, sql from sqlite_schema where type = 'trigger' and tbl_name like 'audit%'",
      )
      .all();
    const lifted = guards.map(({ name }) => `drop trigger ${name};`).join("");
    const back = guards.map(({ sql }) => `${sql};`).join("");
    expect(found(`${lifted}${back}`)).toBeUndefined();
    let tried = 0;
    for (const table of tables) {
      const columns = database.pragma(`table_info(${table})`) as { name: string; type: string; pk: number }[];
      const rows = database.prepare<[], number>(`select rowid from ${table}`).pluck().all();
      for (const { name, type } of columns)
        for (const row of rows.length > 3 ? [rows[0], rows[20], rows.at(-1)] : rows) {
          const others =
            type.toLowerCase() === "integer"
              ? [`${name} + 1000`, `-1 - ${name}`]
              : [
                  `${name} || 'a'`,
                  `${name} || char(0)`,
                  `substr(${name}, 1, length(${name}) - 1)`,
                  `substr(${name}, 1, length(${name}) - 1) || char(unicode(substr(${name} || 'a', -1)) + 1)`,
                ];
          for (const other of others) {
            const change = `update or ignore ${table} set ${name} = ${other} where rowid = ${row} and ${name} is not ${other}`;
            if (name === "only_one" || isSame(database, table, name, other, row ?? 0)) continue;
            tried += 1;
            expect.soft(found(`${lifted}${change};${back}`), change).toBeDefined();
          }
        }
    }
    expect(tried).toBeGreaterThan(100);
  });
});

function isSame(database: ReturnType<typeof sqlite>, table: string, name: string, other: string, row: number): boolean {
  return (
    database.prepare<[number], number>(`select ${name} is ${other} from ${table} where rowid = ?`).pluck().get(row) ===
    1
  );
}

describe("a ledger whose tables are others", () => {
  it.each([
    ["a trigger that swallows entries", "create trigger more before insert on AUDIT begin select raise(ignore); end"],
    ["a trigger on the tree", "create trigger more after insert on audit_tile begin delete from meta; end"],
    ["a column more", "alter table audit add column more text"],
    ["no index", "drop index audit_by_subject"],
    ["an index over something else", "drop index audit_by_subject; create index audit_by_subject on audit (kind)"],
    ["an index more", "create unique index more on audit (kind, sequence)"],
    [
      "a table that takes anything",
      "drop table audit_tile; create table audit_tile (number integer primary key, root text not null)",
    ],
  ])("is found out: %s", { tags: "long" }, async (_, sql) => {
    expect(attacked(await goneOn())(sql) ?? "good").toMatch(/^(?:schema-changed|guard-missing)$/u);
  });
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

describe("entries that stand where none of theirs may", () => {
  /** Six entries, each linked with the one before it, of these formats and numbers. */
  function linked(entries: readonly { sequence: number; format: number }[]): AuditRow[] {
    let previous = "";
    return entries.map(({ sequence, format }) => {
      const salt = format === 1 ? "" : "0".repeat(32);
      const row = {
        sequence,
        format,
        at: "2026-10-01T08:00:00.000Z",
        kind: "k",
        subject: "s",
        body: "{}",
        previous,
        salt,
      };
      previous = auditHash(row);
      return { ...row, hash: previous };
    });
  }

  it.each([
    ["one of the form before behind one of the tree", [1, 2, 1], [1, 2, 3], "entry-format", 3],
    ["one of a form that nobody knows", [1, 2, 3], [1, 2, 3], "entry-format", 3],
    ["one that is there again", [2, 2, 2], [1, 2, 2], "entry-repeated", 3],
    ["one behind a gap", [2, 2, 2], [1, 2, 4], "entry-missing", 3],
  ])("are named: %s", (_, forms, numbers, code, firstBad) => {
    const rows = linked(numbers.map((sequence, index) => ({ sequence, format: forms[index] ?? 0 })));
    expect(verifyRecord({ rows, heads: [] }).integrity).toMatchObject({ good: false, code, firstBad });
  });
});
