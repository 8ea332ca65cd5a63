import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { sha256 } from "../../src/base/canonical-json.ts";
import { readKeptHeads } from "../../src/ledger/audit/audit-heads.ts";
import { openReadOnly } from "../../src/ledger/database/database.ts";
import { count, doneWith, intend, problemOf, update } from "./opened.ts";
import { key } from "../support/world/records.ts";
import { folder, openLedger, sqlite } from "../support/world/start.ts";

/** A ledger as a program leaves it that ended before it had made the tables. */
function begunLedger(): string {
  const path = join(folder(), "ledger.db");
  sqlite(path).pragma("application_id = 1129467219");
  return path;
}

/** A closed ledger with `operations` concluded operations and one run, all of it in the main file. */
async function closedLedger(operations = 3): Promise<string> {
  const { ledger, path } = await openLedger();
  const run = await ledger.runs.start({ job: "j", kind: "sync", trigger: "hand", scope: null, header: {} });
  for (let index = 0; index < operations; index += 1)
    await ledger.journal.conclude(await intend(ledger, update(`${index}`)), doneWith());
  await ledger.runs.finish(run, { state: "done", exitCode: 0, balance: null, summary: null });
  ledger.close();
  return path;
}

async function refusalOf(path: string): Promise<Awaited<ReturnType<typeof problemOf>>> {
  return await problemOf(() => openLedger({ path }));
}

describe("a file that is not a usable ledger is refused by name, and not touched", () => {
  it("knows a text from a ledger", async () => {
    const path = join(folder(), "ledger.db");
    writeFileSync(path, "customerID,companyName\nALFKI,Alfreds\n");
    expect(await refusalOf(path)).toMatchObject({ code: "ledger.not-a-ledger", exitCode: 65 });
    expect(readFileSync(path, "utf8")).toBe("customerID,companyName\nALFKI,Alfreds\n");
  });

  it("knows somebody else's database from a ledger", async () => {
    const path = join(folder(), "ledger.db");
    const other = new Database(path);
    other.exec("create table music (title text)");
    other.close();
    const before = sha256(readFileSync(path, "latin1"));
    expect(await refusalOf(path)).toMatchObject({ code: "ledger.not-a-ledger", exitCode: 65 });
    expect(sha256(readFileSync(path, "latin1"))).toBe(before);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it("refuses a folder in its place", async () => {
    const path = join(folder(), "ledger.db");
    mkdirSync(path);
    expect(await refusalOf(path)).toMatchObject({ code: "ledger.not-a-file", exitCode: 65 });
  });

  it("says so when the folder does not exist", async () => {
    const path = join(folder(), "nowhere", "ledger.db");
    const problem = await refusalOf(path);
    expect(problem).toMatchObject({ code: "ledger.cannot-open", exitCode: 65 });
    expect(problem.cure).toContain("folder exists");
  });

  it.each([1, 2, 3])("refuses a ledger that was cut off (case %#)", async (quarter) => {
    const path = await closedLedger(40);
    const size = statSync(path).size;
    truncateSync(path, Math.floor((size * quarter) / 4 / 4096) * 4096);
    const before = sha256(readFileSync(path, "latin1"));
    expect(await refusalOf(path)).toMatchObject({ code: "ledger.damaged", exitCode: 65 });
    expect(sha256(readFileSync(path, "latin1"))).toBe(before);
  });

  it("refuses a ledger with pages that make no sense", async () => {
    const path = await closedLedger(40);
    const bytes = readFileSync(path);
    for (let page = 20; page < 60; page += 1) bytes.fill(0xa5, page * 4096, page * 4096 + 64);
    writeFileSync(path, bytes);
    expect(await refusalOf(path)).toMatchObject({ code: "ledger.damaged", exitCode: 65 });
  });

  it("ends with the first piece of work that meets a lost table, however late it is asked for", async () => {
    const { ledger, path } = await openLedger();
    sqlite(path).exec("drop table hold");
    const problem = await problemOf(() => ledger.decisions.standing({ customer: key("1"), ofUndo: false }));
    expect(problem).toMatchObject({ code: "ledger.damaged", exitCode: 65 });
    await expect(intend(ledger, update("1"))).rejects.toThrow("no such table: hold");
  });

  it("ends with the first piece of work that writes into a column that is not there", async () => {
    const { ledger, path } = await openLedger();
    sqlite(path).exec("alter table attempt rename column nonce to nonse");
    expect(await problemOf(() => intend(ledger, update("1")))).toMatchObject({ code: "ledger.damaged", exitCode: 65 });
    expect(ledger.broken?.code).toBe("ledger.damaged");
  });

  it("refuses a ledger in whose schema a name is damaged", async () => {
    const path = await closedLedger();
    const database = sqlite(path);
    database.unsafeMode();
    database.pragma("writable_schema = on");
    database.exec("update sqlite_schema set sql = replace(sql, 'from audit', 'from audiu')");
    database.close();
    expect(await refusalOf(path)).toMatchObject({ code: "ledger.damaged", exitCode: 65 });
  });

  it("refuses a ledger that lacks a table, before anything is read or sent", { tags: "long" }, async () => {
    const path = await closedLedger();
    const names = sqlite(path)
      .prepare<[], string>("select name from sqlite_schema where type = 'table' and name <> 'plan'")
      .pluck()
      .all();
    const taken: string[] = [];
    for (const name of names) {
      const copy = join(folder(), "ledger.db");
      copyFileSync(path, copy);
      const database = sqlite(copy);
      database.pragma("legacy_alter_table = on");
      database.exec(`alter table ${name} rename to ${name}_x`);
      database.close();
      const outcome = await Promise.allSettled([openLedger({ path: copy })]);
      if (!JSON.stringify(outcome).includes('"ledger.damaged"')) taken.push(name);
    }
    expect(taken).toEqual([]);
  });

  it.each(["gone", "empty"])("does not begin anew where a ledger was that is %s now", async (how) => {
    const path = await closedLedger();
    if (how === "gone") rmSync(path);
    else truncateSync(path, 0);
    const problem = await refusalOf(path);
    expect(problem).toMatchObject({ code: "ledger.lost", exitCode: 65 });
    expect(problem.message).toContain("4 audit entries");
    rmSync(`${path}.heads`);
    await openLedger({ path });
    expect(count(path, "audit")).toBe(0);
  });

  it("makes no run on an older copy that was put back, for it would do again what the copy does not know", async () => {
    const path = await closedLedger();
    const copy = `${path}.copy`;
    copyFileSync(path, copy);
    const { ledger } = await openLedger({ path });
    const run = await ledger.runs.start({ job: "j", kind: "sync", trigger: "hand", scope: null, header: {} });
    await ledger.journal.conclude(await intend(ledger, update("new")), doneWith());
    await ledger.runs.finish(run, { state: "done", exitCode: 0, balance: null, summary: null });
    ledger.close();
    for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
    copyFileSync(copy, path);
    expect(await refusalOf(path)).toMatchObject({ code: "ledger.behind", exitCode: 65 });
    rmSync(`${path}.heads`);
    const restored = await openLedger({ path });
    restored.ledger.runs.takeLock();
    // The same where a program has the ledger open and another one writes heads that it lacks.
    restored.ledger.runs.releaseLock();
    appendFileSync(`${path}.heads`, `\n{"commit":99,"sequence":0,"hash":"","at":"2026-10-01T08:00:00.000Z"}`);
    expect(await problemOf(() => restored.ledger.runs.takeLock())).toMatchObject({
      code: "ledger.behind",
      exitCode: 65,
    });
  });
});

describe("a journal row that nobody can read", () => {
  it.each([
    ["payload", "update operation set payload = '{\"crmCustomerId\": '"],
    ["context", "update operation set context = 'x'"],
    ["target", "update operation set target = ''"],
    ["after", "update operation set after = '{'"],
    ["evidence", "update operation set evidence = 'seen'"],
    ["kind", "update operation set kind = 'delete-everything'"],
    ["records", "update operation set records = replace(records, 'customers', 'orders and more')"],
  ])("is refused by name and column, and nothing more is written (%s)", async (column, statement) => {
    const { ledger, path } = await openLedger();
    const id = await intend(ledger, update("1"));
    sqlite(path).exec(statement);
    const problem = await problemOf(() => ledger.journal.open());
    expect(problem).toMatchObject({ code: "ledger.damaged", exitCode: 65 });
    expect(problem.message).toContain(id);
    expect(problem.message).toContain(column);
    expect(problem.cure).toContain("backup");
    expect(ledger.broken?.code).toBe("ledger.damaged");
    await expect(intend(ledger, update("2"))).rejects.toThrow("damaged");
    expect(count(path, "operation")).toBe(1);
  });
});

it("an open operation that cannot be read is refused by name and column", async () => {
  const { ledger, path } = await openLedger();
  const id = await intend(ledger, update("1"));
  sqlite(path).exec("update operation set payload = '[1]'");
  await expect(ledger.journal.open()).rejects.toMatchObject({ exitCode: 65 });
  await expect(ledger.journal.open()).rejects.toThrow(id);
  await expect(ledger.journal.open()).rejects.toThrow("payload");
});

describe("a conclusion on a journal row that nobody can read", () => {
  it("fails with the whole group it stands in, and ends the writing", async () => {
    const { ledger, path } = await openLedger();
    const id = await intend(ledger, update("1"));
    sqlite(path).exec("update operation set records = 'x'");
    const outcomes = await Promise.allSettled([
      ledger.journal.conclude(id, doneWith()),
      ledger.audit.append({ kind: "note", subject: "s", body: {} }),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
    expect(ledger.broken?.code).toBe("ledger.damaged");
    expect(count(path, "audit")).toBe(0);
  });
});

describe("a ledger that cannot be written", () => {
  it("ends with a clear stop when another program holds it too long", async () => {
    const { ledger, path } = await openLedger({ busyTimeoutMs: 50 });
    const other = sqlite(path);
    other.exec("begin immediate");
    const problem = await problemOf(() => intend(ledger, update("1")));
    expect(problem).toMatchObject({ code: "ledger.busy", exitCode: 65 });
    expect(problem.message).toContain("Nothing more is sent");
    expect(ledger.broken?.code).toBe("ledger.busy");
    other.exec("rollback");
    await expect(intend(ledger, update("2"))).rejects.toThrow();
    ledger.close();
    const again = await openLedger({ path });
    await intend(again.ledger, update("3"));
  });

  it("is opened beside another program that writes, and refused as busy where it has to be written for that", async () => {
    const path = await closedLedger();
    const other = sqlite(path);
    other.exec("begin immediate");
    const { ledger } = await openLedger({ path, busyTimeoutMs: 50 });
    expect(await problemOf(() => ledger.runs.takeLock())).toMatchObject({ code: "ledger.busy", exitCode: 65 });
    const empty = begunLedger();
    sqlite(empty).exec("begin immediate");
    const problem = await problemOf(() => openLedger({ path: empty, busyTimeoutMs: 50 }));
    expect(problem).toMatchObject({ code: "ledger.busy", exitCode: 65 });
  });

  it(
    "ends with a clear stop when the disk is full, keeps what was acknowledged, and goes on with more room",
    { tags: "long" },
    async () => {
      const disk = folder();
      const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]);
      // Where nothing can be mounted, the writer's own test of a database that cannot grow stands for this one.
      if (mounted.status !== 0) return;
      onTestFinished(() => void spawnSync("umount", ["-l", disk]));
      const { ledger, path } = await openLedger({ path: join(disk, "ledger.db") });
      const acknowledged: string[] = [];
      const big = { crmCustomerId: "x".repeat(4_000), branchName: "b" };
      let problem: unknown;
      for (let index = 0; index < 2_000 && problem === undefined; index += 1) {
        try {
          acknowledged.push(await intend(ledger, update(`${index}`, { payload: big })));
        } catch (error) {
          problem = error;
        }
      }
      expect(problem).toMatchObject({ code: "ledger.disk-full", exitCode: 65 });
      expect(ledger.broken).toMatchObject({ code: "ledger.disk-full" });
      await expect(intend(ledger, update("after"))).rejects.toMatchObject({ code: "ledger.disk-full" });
      ledger.close();
      spawnSync("mount", ["-o", "remount,size=64m", disk]);
      const again = await openLedger({ path });
      expect((await again.ledger.journal.open()).map((row) => row.id)).toEqual(acknowledged);
      await intend(again.ledger, update("after"));
    },
  );

  it("refuses a folder that cannot be written", async () => {
    const disk = folder();
    const mounted = spawnSync("mount", ["-t", "tmpfs", "tmpfs", disk]);
    const path = join(disk, "ledger.db");
    if (mounted.status === 0) onTestFinished(() => void spawnSync("umount", ["-l", disk]));
    const { ledger } = await openLedger({ path });
    ledger.close();
    if (mounted.status === 0) spawnSync("mount", ["-o", "remount,ro", disk]);
    else spawnSync("chmod", ["-R", "a-w", disk]);
    // Permissions alone do not stop root.
    if (mounted.status !== 0 && process.getuid?.() === 0) return;
    const problem = await refusalOf(path);
    expect(problem).toMatchObject({ code: "config.ledger-not-writable", exitCode: 78 });
    expect(problem.cure).toMatch(/^set ledger\.path to a file in a folder where this user can write/);
  });
});

describe("a ledger", () => {
  it("of another version is refused, and nothing is written", async () => {
    const path = await closedLedger();
    const database = sqlite(path);
    database.pragma("user_version = 9999");
    database.close();
    const before = sha256(readFileSync(path, "latin1"));
    const problem = await refusalOf(path);
    expect(problem).toMatchObject({ code: "ledger.unknown-version", exitCode: 65 });
    expect(problem.message).toContain("9999");
    expect(sha256(readFileSync(path, "latin1"))).toBe(before);
  });

  it("whose making broke off cannot be read, and the next program that writes makes the rest", async () => {
    const path = begunLedger();
    expect(await problemOf(() => openReadOnly(path))).toMatchObject({ code: "ledger.unknown-version", exitCode: 65 });
    for (const text of [undefined, ""]) {
      const missing = join(folder(), "ledger.db");
      if (text !== undefined) writeFileSync(missing, text);
      expect(await problemOf(() => openReadOnly(missing))).toMatchObject({ code: "ledger.missing" });
    }
    const { ledger } = await openLedger({ path });
    await intend(ledger, update("1"));
  });
});

describe("heads kept outside", () => {
  it("are whole again after a crash left half a line", async () => {
    const path = await closedLedger();
    appendFileSync(`${path}.heads`, '{"sequence":9,"ha');
    const { ledger } = await openLedger({ path });
    const run = await ledger.runs.start({ job: "j", kind: "sync", trigger: "hand", scope: null, header: {} });
    const head = await ledger.runs.finish(run, { state: "done", exitCode: 0, balance: null, summary: null });
    expect(head?.sequence).toBe(5);
    const verdict = ledger.audit.verify();
    expect(verdict).toMatchObject({ good: true, entries: 5, keptHeads: 5 });
  });

  it(
    "are of one length however many there are, keep who may read them, and lose no line that another program writes meanwhile",
    { tags: "long" },
    async () => {
      const { ledger, path } = await openLedger();
      const heads = `${path}.heads`;
      ledger.runs.takeLock();
      const { ledger: other } = await openLedger({ path });
      await other.audit.append({ kind: "k", subject: "s", body: {} });
      chmodSync(heads, 0o640);
      const line = `\n{"commit":1,"sequence":0,"hash":"","at":"2026-10-01T08:00:00.000Z"}`;
      let longest = 0;
      for (let turn = 0; turn < 3; turn += 1) {
        appendFileSync(heads, line.repeat(8_000));
        const run = await ledger.runs.start({ job: "j", kind: "sync", trigger: "hand", scope: null, header: {} });
        await other.audit.append({ kind: "k", subject: "s", body: {} });
        await ledger.runs.finish(run, { state: "done", exitCode: 0, balance: null, summary: null });
        await other.audit.append({ kind: "k", subject: "s", body: {} });
        longest = Math.max(longest, statSync(heads).size);
      }
      expect(longest).toBeLessThan(8_000 * line.length);
      expect(statSync(heads).mode & 0o777).toBe(0o640);
      expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 10 });
      expect(readKeptHeads(heads).at(-1)?.sequence).toBe(10);
      ledger.close();
      other.close();
      expect((await openLedger({ path })).ledger.audit.head()?.sequence).toBe(10);
    },
  );

  it("end the writing when they cannot be kept: nothing is sent on what only the ledger has", async () => {
    const { ledger, path } = await openLedger();
    await intend(ledger, update("c1"));
    rmSync(`${path}.heads`);
    mkdirSync(`${path}.heads`);
    expect(await problemOf(() => intend(ledger, update("c2")))).toMatchObject({
      code: "ledger.head-not-kept",
      exitCode: 65,
    });
    expect(ledger.broken).toBeDefined();
  });
});
