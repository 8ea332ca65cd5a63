import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { document, documents, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

/**
 * One customer whose order was sent and never answered, and which the platform does not show: it waits for a person.
 */
async function inDoubt(): Promise<{ w: World; id: string }> {
  const w = await world({ records: { ...company(1, 1), staff: [] } });
  w.extra = "orders: { unseen: ask }\n";
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
  const ended = await w.run("run", "everything");
  expect(ended.exitCode, ended.stdout).toBe(5);
  expect(ended.stdout).toMatch(/exit 5: .*settle list/u);
  const [row] = w.rows<{ id: string; state: string }>("select id, state from operation where kind = 'place-order'");
  expect(row?.state).toBe("parked");
  return { w, id: row?.id ?? "" };
}

describe("an operation that only a person can decide on", () => {
  it("is listed with what is known about it, and is not sent again by itself", { tags: "long" }, async () => {
    const { w, id } = await inDoubt();
    const list = await w.run("settle", "list");
    expect(list.exitCode).toBe(0);
    expect(list.stdout).toContain(id);
    expect(list.stdout).toContain("order:crm/O1");
    expect(list.stdout).toMatch(/nonce [0-9a-f]{32}/u);
    const asJson = document(await w.run("--json", "settle", "list"));
    expect(asJson).toHaveLength(1);
    expect(asJson[0]).toMatchObject({ id, state: "parked" });
    const again = await w.writes(() => w.run("run", "everything"));
    expect(again.result.exitCode).toBe(5);
    expect(again.calls).toEqual({});
    expect((await w.run("status")).stdout).toContain(id);
    expect((await w.run("explain", "order", "O1")).stdout).toContain(id);
  });

  it("is sent again after --not-applied, and placed once", { tags: "long" }, async () => {
    const { w, id } = await inDoubt();
    const settled = await w.run("settle", id, "--not-applied", "--reason", "the service desk found no such order");
    expect(settled.exitCode, settled.stderr).toBe(0);
    const { result, calls } = await w.writes(() => w.run("run", "everything"));
    expect(result.exitCode, result.stdout).toBe(0);
    expect(calls["E5"]).toBe(1);
    expect(w.sandbox.batches("O1")).toHaveLength(1);
    expect(
      w
        .rows<{ body: string }>("select body from audit")
        .some((row) => row.body.includes("the service desk found no such order")),
    ).toBe(true);
    expect((await w.run("settle", "list")).stdout).not.toContain(id);
  });

  it("is not sent after --applied, and the person hears what stays unknown", { tags: "long" }, async () => {
    const { w, id } = await inDoubt();
    const settled = await w.run("settle", id, "--applied", "--reason", "the service desk sees it");
    expect(settled.exitCode, settled.stderr).toBe(0);
    expect(settled.stdout).toContain("the licence order numbers that are missing stay unknown");
    const { result, calls } = await w.writes(() => w.run("run", "everything"));
    expect(calls).toEqual({});
    expect(result.exitCode, result.stdout).toBe(0);
    expect((await w.run("explain", "order", "O1")).stdout).toContain("is placed as O1");
  });

  it("needs one verdict, a reason, and an operation that is open", { tags: "long" }, async () => {
    const { w, id } = await inDoubt();
    const refusals: [string[], RegExp][] = [
      [[id, "--reason", "x"], /one verdict/u],
      [[id, "--applied", "--not-applied", "--reason", "x"], /one verdict/u],
      [[id, "--not-applied"], /needs a reason/u],
      [[id, "--not-applied", "--reason", "  "], /needs a reason/u],
      [["op_nowhere", "--not-applied", "--reason", "x"], /op_nowhere/u],
    ];
    for (const [words, why] of refusals) {
      const ended = await w.run("settle", ...words);
      expect(ended.exitCode, words.join(" ")).toBe(64);
      expect(ended.stderr, words.join(" ")).toMatch(why);
    }
    await w.run("settle", id, "--not-applied", "--reason", "none there");
    const twice = await w.run("settle", id, "--applied", "--reason", "there after all");
    expect(twice.exitCode).toBe(64);
    expect(w.rows("select id from operation where state in ('parked', 'unknown', 'sending')")).toEqual([]);
  });
});

describe("the initial password of a staff member", () => {
  it("is handed out once, and leaves a trace but no copy", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    await w.run("run", "everything");
    const first = await w.run("staff", "password", "S1-1");
    expect(first.exitCode, first.stderr).toBe(0);
    const password = first.stdout.trim();
    expect(password.length).toBeGreaterThanOrEqual(8);
    expect(first.stderr).toContain("shown this once");
    const second = await w.run("--json", "staff", "password", "crm/S1-1");
    expect(second.exitCode).toBe(64);
    expect(document(second).error.message).toContain("was handed out already");
    expect(second.stdout + second.stderr).not.toContain(password);
    for (const file of ["ledger.db", "ledger.db-wal"]) {
      expect(readFileSyncIfThere(w.path(file)).includes(password), file).toBe(false);
    }
    const audit = await w.run("audit", "export");
    expect(
      documents(audit).some((entry) => entry.kind === "password-handed-out" && entry.subject === "staff:crm/S1-1"),
    ).toBe(true);
    const stranger = await w.run("staff", "password", "S9-9");
    expect(stranger.exitCode).toBe(64);
    expect(stranger.stderr).toContain("S9-9");
  });

  it("is not made where there is no key to seal it with, and check says so", async () => {
    const w = await world({ records: company(1, 1) });
    const configured = readFileSync(w.path("crm-sync.yaml"), "utf8");
    writeFileSync(w.path("crm-sync.yaml"), configured.replace("  sealKey: env:SEAL_KEY\n", ""));
    const checked = await w.run("check");
    expect(checked.exitCode).toBe(78);
    expect(checked.stdout).toContain("ledger.sealKey (A30)");
    const { calls } = await w.writes(() => w.run("run", "everything"));
    expect(calls).toEqual({ E2: 1, E5: 1, E9: 1 });
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("no sealing key is configured");
    writeFileSync(w.path("crm-sync.yaml"), configured);
    const mended = await w.writes(() => w.run("run", "everything"));
    expect(mended.calls).toEqual({ M1: 1, M9: 1 });
  });
});

function readFileSyncIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

describe("the audit record", () => {
  it("verifies, has a head, and is exported whole", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    await w.run("run", "everything");
    const verified = document(await w.run("--json", "audit", "verify"));
    expect(verified).toMatchObject({ good: true });
    const head = await w.run("audit", "head");
    expect(head.stdout.split("\n")[0]).toBe(`${verified.head.sequence} ${verified.head.hash}`);
    const [first, ...rest] = documents(await w.run("audit", "export"));
    const [end, ...entries] = rest.toReversed();
    expect([first, end?.end.size]).toEqual([
      { export: "crm-sync audit record 2", entries: verified.entries },
      verified.entries,
    ]);
    expect(head.stdout).toContain(`tree ${end?.end.size} ${end?.end.root}`);
    expect(entries).toHaveLength(verified.entries);
    expect(entries[0]?.hash).toBe(verified.head.hash);
    const exported = await w.run("audit", "export", "--out", w.path("audit.ndjson"));
    expect(exported.exitCode).toBe(0);
    expect(exported.stdout).toBe("");
    const lines = readFileSync(w.path("audit.ndjson"), "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(verified.entries + 2);
    const nowhere = await w.run("audit", "export", "--out", w.path("no/such/folder/audit.ndjson"));
    expect(nowhere.exitCode).not.toBe(0);
    expect(nowhere.stderr).toMatch(/no\/such\/folder/u);
    expect(nowhere.stderr).not.toContain("defect");
  });

  it(
    "shows every kind of tampering by somebody who has the file, with the entry's number and exit code 65",
    { tags: "long" },
    async () => {
      const w = await world({ records: company(1, 1) });
      await w.run("run", "everything");
      const triggers = w.rows<{ name: string; sql: string }>(
        "select name, sql from sqlite_master where type = 'trigger' and tbl_name = 'audit'",
      );
      const drop = triggers.map((trigger) => `drop trigger ${trigger.name};`).join("");
      const restore = triggers.map((trigger) => `${trigger.sql};`).join("");
      copyFileSync(w.path("ledger.db"), w.path("good.db"));
      const last = w.rows<{ n: number }>("select max(sequence) as n from audit")[0]?.n ?? 0;
      const attacks: [string, string, number | undefined][] = [
        ["a changed body", `${drop}update audit set body = replace(body, '"', '" ') where sequence = 3;${restore}`, 3],
        ["a changed time", `${drop}update audit set at = '2020-01-01T00:00:00.000Z' where sequence = 2;${restore}`, 2],
        ["an entry taken out", `${drop}delete from audit where sequence = 4;${restore}`, undefined],
        [
          "two entries swapped",
          `${drop}update audit set sequence = -1 where sequence = 2; update audit set sequence = 2 where sequence = 3; update audit set sequence = 3 where sequence = -1;${restore}`,
          2,
        ],
        ["the end cut off", `${drop}delete from audit where sequence > ${last - 2};${restore}`, undefined],
        ["everything deleted", `${drop}delete from audit;${restore}`, undefined],
      ];
      const restoreGood = (): void => {
        for (const rest of ["ledger.db-wal", "ledger.db-shm"]) rmSync(w.path(rest), { force: true });
        copyFileSync(w.path("good.db"), w.path("ledger.db"));
      };
      for (const [what, sql, entry] of attacks) {
        restoreGood();
        w.tamper(sql);
        const ended = await w.run("audit", "verify");
        expect.soft(ended.exitCode, `${what}: ${ended.stdout}`).toBe(65);
        expect.soft(ended.stdout, what).toMatch(/^\w+ +BAD /mu);
        if (entry !== undefined) expect.soft(ended.stdout, what).toContain(`at entry ${entry}`);
      }
      restoreGood();
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
      expect(() => w.tamper("update audit set body = '{}' where sequence = 1")).toThrow(/never changed/u);
      expect(() => w.tamper("delete from audit")).toThrow(/never deleted/u);
    },
  );
});
