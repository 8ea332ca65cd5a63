import { describe, expect, it, onTestFinished } from "vitest";
import { auditProof } from "../../../src/inquiry/audit.ts";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import { auditHash, storedRoots, type AuditRow, Frontier } from "../../../src/ledger/audit/audit-log.ts";
import { keptOf, treeEndingWith, RecordTree } from "../../../src/ledger/audit/kept-tree.ts";
import { verifyRecord } from "../../../src/ledger/audit/verify-log.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import { changeFile, openLedger, sqlite } from "../../support/world/start.ts";

const tables = ["audit", "audit_tree", "audit_tile"];

/** The path of a ledger with so many entries. */
async function ledgerOf(count: number): Promise<string> {
  const { ledger, path } = await openLedger();
  for (let n = 1; n <= count; n += 1)
    await ledger.audit.append({ kind: "k", subject: n === 280 ? "order:crm/1" : "s", body: { n } });
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
    const path = await ledgerOf(300);
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
    expect(attacked(await ledgerOf(300))(sql) ?? "good").toMatch(/^(?:schema-changed|guard-missing)$/u);
  });
});

describe("entries that stand where none of theirs may", () => {
  /** Six entries, each linked with the one before it, of these formats and numbers. */
  function linked(entries: readonly { sequence: number; format: number }[]): AuditRow[] {
    let previous = "";
    return entries.map(({ sequence, format }) => {
      const at = "2026-10-01T08:00:00.000Z";
      const row = { sequence, format, at, kind: "k", subject: "s", body: "{}", previous, salt: "0".repeat(32) };
      previous = auditHash(row);
      return { ...row, hash: previous };
    });
  }

  it.each([
    ["one of a form that nobody knows", [2, 2, 3], [1, 2, 3], "entry-format", 3],
    ["one that is there again", [2, 2, 2], [1, 2, 2], "entry-repeated", 3],
    ["one behind a gap", [2, 2, 2], [1, 2, 4], "entry-missing", 3],
  ])("are named: %s", (_, forms, numbers, code, firstBad) => {
    const rows = linked(numbers.map((sequence, index) => ({ sequence, format: forms[index] ?? 0 })));
    expect(verifyRecord({ rows, heads: [] }).integrity).toMatchObject({ good: false, code, firstBad });
  });
});

it("that the record has grown is not proven where somebody changed an entry before it", async () => {
  const path = await ledgerOf(300);
  const reader = new ReadOnlyLedger(path, openReadOnly(path));
  onTestFinished(() => reader.close());
  const order = { namespace: "crm", id: "1" };
  // What the ledger keeps of the first 256 leaves proves the entry, also where one of them is another now.
  expect(await auditProof(reader, order, 7)).toMatchObject({ size: 300, since: { size: 7 } });
  changeFile(
    path,
    "drop trigger audit_refuses_update; update audit set hash = iif(hash like '0%', '1', '0') || substr(hash, 2) where sequence = 5",
  );
  expect(await auditProof(reader, order, undefined)).toMatchObject({ size: 300 });
  await expect(auditProof(reader, order, 7)).rejects.toThrow("the Merkle tree does not match its root");
});

it("a ledger has the tree that it had with each entry", { tags: "long" }, async () => {
  const database = sqlite(await ledgerOf(600));
  const tree = new RecordTree();
  for (const entry of database.prepare<[], AuditRow>("select * from audit order by sequence").all()) {
    tree.take(entry);
    if (entry.sequence > 40 && entry.sequence % 37 > 0 && entry.sequence < 597) continue;
    const { size, root } = tree.checkpoint();
    const row = treeEndingWith(database, entry.sequence);
    expect(row.size, `entry ${entry.sequence}`).toBe(size);
    expect(new Frontier({ size: row.size, roots: storedRoots(row) }).root(), `entry ${entry.sequence}`).toBe(root);
  }
  expect(() => treeEndingWith(database, 601)).toThrow(/cannot be read/u);
});
