import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import type Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/canonical-json.ts";
import { auditHash, type AuditHead, type AuditRow } from "../../src/ledger/audit/audit-log.ts";
import { verifyRecord } from "../../src/ledger/audit/verify-log.ts";
import { RecordTree } from "../../src/ledger/audit/kept-tree.ts";
import { headsPath, readKeptHeads } from "../../src/ledger/audit/audit-heads.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openLedger, sqlite } from "../support/world/start.ts";

async function append(ledger: Ledger, count: number, from = 0): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      ledger.audit.append({
        kind: `kind-${index % 3}`,
        subject: `order:crm/${from + index}`,
        body: { number: from + index },
      }),
    ),
  );
}

async function endRun(ledger: Ledger): Promise<AuditHead> {
  const run = await ledger.runs.start({ job: "j", kind: "sync", trigger: "hand", scope: null, header: {} });
  const head = await ledger.runs.finish(run, { state: "done", exitCode: 0, balance: null, summary: null });
  if (head === undefined) throw new Error("the run left no head");
  return head;
}

/** Takes the guards away, as somebody would who owns the file. */
function unguarded(path: string): Database.Database {
  const database = sqlite(path);
  database.exec(
    "drop trigger audit_refuses_update; drop trigger audit_refuses_delete; drop trigger audit_appends_only",
  );
  return database;
}

function rowsOf(ledger: Ledger): AuditRow[] {
  return [...ledger.audit.rows()];
}

/** Numbers from a seed, so that a tampering that is not found can be made again. */
function dice(seed: number): (below: number) => number {
  let drawn = 0;
  return (below) => Number.parseInt(sha256(`${seed} ${(drawn += 1)}`).slice(0, 8), 16) % below;
}

describe("the table of audit entries", () => {
  it.each([
    ["update audit set body = '{}' where sequence = 2", "never changed"],
    ["update or replace audit set sequence = 9 where sequence = 2", "never changed"],
    ["delete from audit where sequence = 3", "never deleted"],
    ["delete from audit", "never deleted"],
    [
      "insert into audit select sequence + 1, format, at, kind, subject, body, previous, hash, salt from audit where sequence = 3",
      "only appended",
    ],
    [
      "insert or replace into audit select sequence, format, at, kind, subject, '{}', previous, hash, salt from audit where sequence = 2",
      "only appended",
    ],
    [
      "insert into audit select 5, format, at, kind, subject, body, hash, hash, salt from audit where sequence = 3",
      "only appended",
    ],
    ["insert into audit values (0, 2, '', '', '', '{}', '', '', hex(zeroblob(16)))", "only appended"],
    ["insert into audit values (4, 2, '', '', '', '{}', '', '', '')", "have a salt"],
    ["update audit_tree set size = size - 1", "only grows"],
    ["update audit_tree set roots = '[]'", "only grows"],
    ["delete from audit_tree", "only grows"],
    ["update audit_tile set root = ''", "only grows"],
    ["delete from audit_tile", "only grows"],
  ])("refuses %s", async (statement, reason) => {
    const { ledger, path } = await openLedger();
    await append(ledger, 256);
    expect(() => sqlite(path).exec(statement)).toThrow(reason);
    expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 256 });
  });
});

describe("appending", () => {
  it("draws a salt for each entry, so that one and the same has another hash each time", async () => {
    const { ledger } = await openLedger();
    for (const _ of [1, 2]) await ledger.audit.append({ kind: "k", subject: "s", body: {} });
    const salts = rowsOf(ledger).map(({ salt }) => salt);
    expect(salts).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/u), expect.stringMatching(/^[0-9a-f]{32}$/u)]);
    expect(new Set(salts).size).toBe(2);
  });

  it("commits no entry without the tree that has grown with it, whose root is in the head", async () => {
    const { ledger, path } = await openLedger();
    await append(ledger, 3);
    const tree = new RecordTree();
    for (const row of rowsOf(ledger)) tree.take(row);
    expect(readKeptHeads(headsPath(path)).at(-1)).toMatchObject({ sequence: 3, root: tree.checkpoint().root });
    sqlite(path).exec("create trigger full before update on audit_tree begin select raise(abort, 'no room'); end");
    await expect(append(ledger, 1)).rejects.toThrow();
    expect(rowsOf(ledger)).toHaveLength(3);
  });
});

describe("verifying", () => {
  it(
    "finds a thousand random tamperings and names the first bad entry, and raises no false alarm",
    { tags: "long" },
    async () => {
      const { ledger } = await openLedger();
      await append(ledger, 60);
      const good = rowsOf(ledger);
      const kept = [...heads].map((sequence) => ({ sequence, hash: good[sequence - 1]?.hash ?? "" }));
      const missed: string[] = [];
      for (let seed = 0; seed < 1_000; seed += 1) {
        const roll = dice(seed);
        const rows = good.map((row) => ({ ...row }));
        const { what, bad } = tamper(rows, roll);
        const verdict = verifyRecord({ rows, heads: kept });
        const { integrity, completeness } = verdict;
        const wrong = [integrity, completeness].flatMap((one) => (one.good === false ? [one.firstBad] : []));
        if (Math.min(...wrong) !== bad)
          missed.push(`seed ${seed}: ${what}, expected ${bad}, got ${JSON.stringify(verdict)}`);
        const subset = kept.filter(() => roll(2) === 0);
        const untouched = verifyRecord({ rows: good.map((row) => ({ ...row })), heads: subset });
        if (!untouched.good) missed.push(`seed ${seed}: false alarm ${JSON.stringify(untouched)}`);
      }
      expect(missed).toEqual([]);
    },
  );

  it("finds tampering in the file itself, past the guards", async () => {
    for (const [code, statement] of [
      ["entry-changed", "update audit set at = '2020-01-01T00:00:00.000Z' where sequence = 4"],
      ["entry-changed", "update audit set subject = 'order:crm/other' where sequence = 4"],
      ["entry-changed", "update audit set salt = '00000000000000000000000000000000' where sequence = 4"],
      ["entry-missing", "delete from audit where sequence = 4"],
      ["entry-format", "update audit set format = 3 where sequence = 4"],
      ["entry-format", "update audit set format = 1 where sequence = 4"],
      ["entry-moved", "update audit set previous = hash where sequence = 4"],
    ] as const) {
      const { ledger, path } = await openLedger();
      await append(ledger, 9);
      unguarded(path).exec(statement);
      expect(ledger.audit.verify().integrity, statement).toMatchObject({ good: false, code, firstBad: 4 });
    }
  });

  it.each([
    ["its size", "update audit_tree set size = size - 1", 0],
    ["its roots", "update audit_tree set roots = replace(roots, substr(roots, 3, 4), 'ffff')", 0],
    ["a subtree", "update audit_tile set root = (select root from audit_tile where number = 0) where number = 1", 257],
    ["a subtree less", "delete from audit_tile where number = 1", 0],
  ])("finds a tree that is not the one of the entries: %s", async (_, statement, firstBad) => {
    const { ledger, path } = await openLedger();
    await append(ledger, 600);
    const database = sqlite(path);
    const guards = database.prepare(
      "select name, sql from sqlite_master where type = 'trigger' and name like 'audit_t%'",
    );
    const kept = guards.all() as { name: string; sql: string }[];
    database.exec(`${kept.map(({ name }) => `drop trigger ${name};`).join("")}${statement}`);
    expect(ledger.audit.verify().integrity).toMatchObject({ good: false, code: "guard-missing" });
    for (const { sql } of kept) database.exec(sql);
    expect(ledger.audit.verify().integrity).toMatchObject({ good: false, code: "tree-changed", firstBad });
  });

  it("finds a cut up to the last kept head, and says what a cut after it means: nothing", async () => {
    const { ledger, path } = await openLedger();
    await append(ledger, 5);
    const head = await endRun(ledger);
    expect(head.sequence).toBe(6);
    const kept = readFileSync(headsPath(path));
    await append(ledger, 4, 10);
    const database = unguarded(path);
    database.exec("delete from audit where sequence > 8");
    const cut = ledger.audit.verify();
    expect(cut).toMatchObject({ good: false, completeness: { code: "cut-off", firstBad: 9 } });
    // With an older file of heads, as far as that says.
    writeFileSync(headsPath(path), kept);
    const complete = { completeness: { good: true } };
    expect(ledger.audit.verify()).toMatchObject({ ...complete, entries: 8, keptHeads: 2, head: { sequence: 8 } });
    database.exec("delete from audit where sequence > 6");
    expect(ledger.audit.verify()).toMatchObject({ ...complete, entries: 6 });
    database.exec("delete from audit where sequence > 5");
    const { completeness } = ledger.audit.verify();
    expect(completeness).toMatchObject({ good: false, code: "cut-off", firstBad: 6 });
    expect(completeness.good === false ? completeness.why : "").toContain("cut off");
    database.exec("delete from audit");
    expect(ledger.audit.verify().completeness).toMatchObject({ good: false, firstBad: 1 });
  });

  it("finds a chain that was written anew from some entry on, by the heads that were kept", async () => {
    const { ledger, path } = await openLedger();
    await append(ledger, 5);
    await endRun(ledger);
    await append(ledger, 5, 10);
    await endRun(ledger);
    for (const [from, firstBad] of [
      [8, 11],
      [3, 5],
      [1, 5],
    ] as const) {
      const rewritten = rowsOf(ledger).map((row) => ({ ...row }));
      rewriteFrom(rewritten, from);
      expect(verifyRecord({ rows: rewritten, heads: [] })).toMatchObject({ good: true });
      expect(verifyRecord({ rows: rewritten, heads: readKeptHeads(headsPath(path)) })).toMatchObject({
        good: false,
        integrity: { code: "record-rewritten", firstBad },
      });
    }
  });

  it("finds an entry that was changed with its hash and the link of the entry after it: that one's own hash holds the link", async () => {
    const { ledger } = await openLedger();
    await append(ledger, 6);
    const forged = rowsOf(ledger).map((row) => ({ ...row }));
    const [, , changed, next] = forged;
    if (changed === undefined || next === undefined) throw new Error("the chain is too short");
    changed.body = '{"forged":true}';
    changed.hash = auditHash(changed);
    next.previous = changed.hash;
    expect(verifyRecord({ rows: forged, heads: [] }).integrity).toMatchObject({ good: false, firstBad: 4 });
  });

  it("finds a chain that was written anew even when the program then kept the new head of the same entry", async () => {
    const { ledger, path } = await openLedger();
    await append(ledger, 5);
    await endRun(ledger);
    const rewritten = rowsOf(ledger).map((row) => ({ ...row }));
    rewriteFrom(rewritten, 2);
    const last = rewritten.at(-1);
    appendFileSync(
      headsPath(path),
      `\n${JSON.stringify({ sequence: 6, hash: last?.hash, at: "2026-10-01T08:00:00.000Z" })}\n`,
    );
    const keptTwice = readKeptHeads(headsPath(path)).filter((head) => head.sequence === 6);
    expect(new Set(keptTwice.map((head) => head.hash)).size).toBe(2);
    expect(verifyRecord({ rows: rewritten, heads: keptTwice }).integrity).toMatchObject({
      good: false,
      code: "heads-disagree",
      firstBad: 6,
    });
  });

  it("takes lines of the heads file that are no heads for nothing", async () => {
    const { ledger, path } = await openLedger();
    await append(ledger, 2);
    await endRun(ledger);
    writeFileSync(
      headsPath(path),
      `${readFileSync(headsPath(path), "utf8")}\nrubbish\n{"sequence":1}\n{"sequence":9,"ha`,
    );
    expect(ledger.audit.verify()).toMatchObject({ good: true, keptHeads: 2 });
  });

  it("walks the chain in the order of writing, across connections that wrote in turns", async () => {
    const { ledger, path } = await openLedger();
    const { ledger: other } = await openLedger({ path });
    for (let turn = 0; turn < 5; turn += 1) {
      await append(ledger, 3, turn * 10);
      await append(other, 3, turn * 10 + 5);
    }
    expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 30 });
    expect(ledger.audit.head()).toEqual(other.audit.head());
  });
});

function rewriteFrom(rows: AuditRow[], from: number): void {
  let previous = rows[from - 2]?.hash ?? "";
  for (const row of rows.slice(from - 1)) {
    if (row.sequence === from) row.body = '{"forged":true}';
    row.previous = previous;
    row.hash = auditHash(row);
    previous = row.hash;
  }
}

/** Entries whose hashes were kept outside. */
const heads = new Set([7, 23, 41, 60]);

/**
 * One tampering that a person could do to the rows; `bad` is the first entry that does not fit. An entry that was
 * forged together with its hash is given away by the head that was kept of it, else by the entry after it.
 */
function tamper(rows: AuditRow[], roll: (below: number) => number): { what: string; bad: number } {
  const place = roll(rows.length);
  const row = rows[place];
  if (row === undefined) throw new Error("no row");
  const sequence = place + 1;
  switch (roll(8)) {
    case 0: {
      const columns = ["at", "kind", "subject", "body", "previous", "hash"] as const;
      const column = columns[roll(columns.length)] ?? "body";
      row[column] = flip(row[column], roll);
      return { what: `one character of ${column}`, bad: sequence };
    }
    case 1:
      row.format += 1 + roll(3);
      return { what: "format", bad: sequence };
    case 2:
      row.sequence += 1 + roll(3);
      return { what: "sequence", bad: sequence };
    case 3:
      rows.splice(place, 1);
      return { what: "deleted", bad: sequence };
    case 4: {
      const forged = { ...row, body: '{"forged":true}' };
      rows.splice(place, 0, { ...forged, hash: auditHash(forged) });
      for (const later of rows.slice(place + 1)) later.sequence += 1;
      return { what: "inserted", bad: heads.has(sequence) ? sequence : sequence + 1 };
    }
    case 5: {
      const other = (place + 1 + roll(rows.length - 1)) % rows.length;
      const [first, second] = [Math.min(place, other), Math.max(place, other)];
      const left = rows[first];
      const right = rows[second];
      if (left === undefined || right === undefined) throw new Error("no row");
      rows[first] = { ...right, sequence: first + 1 };
      rows[second] = { ...left, sequence: second + 1 };
      return { what: "swapped", bad: first + 1 };
    }
    case 6: {
      rows.splice(place);
      return { what: "cut off", bad: place + 1 };
    }
    default: {
      row.body = '{"forged":true}';
      row.hash = auditHash(row);
      return { what: "changed with its hash", bad: heads.has(sequence) ? sequence : sequence + 1 };
    }
  }
}

function flip(text: string, roll: (below: number) => number): string {
  if (text === "") return "0";
  const place = roll(text.length);
  const other = String.fromCharCode(text.charCodeAt(place) ^ 1);
  return text.slice(0, place) + other + text.slice(place + 1);
}
