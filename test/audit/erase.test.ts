import { copyFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { document } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { exportOf, verifierAlone } from "../support/audit-record.ts";
import { bytesOf, eraseGone, gone, goneTexts, livedWithGone, nothingWaits, runs } from "../support/gone-customer.ts";
import { crmSync } from "../support/program.ts";
import { canary } from "../support/world/crm.ts";
import { openLedger, sqlite } from "../support/world/start.ts";

const othersValues = `select ref, version, salt, body, sealed, wiped_at from private_value
  where ref like '%/crm/C2' or ref like '%/crm/S2-%' or ref like '%/crm/O2' order by ref, version`;

/**
 * What a service and a source said of somebody where nothing takes it out: an answer that was kept, its words, and two
 * rows that nobody could read, of which the source gives one still.
 */
function planted(w: World): void {
  const [sent] = w.rows<{ id: string }>(
    "select id from operation where kind = 'create-enterprise' and customer_id = 'C1'",
  );
  const kept = (ref: string, body: string): string =>
    `insert into private_value (ref, version, body, created_at) values ('${ref}', 1, '${body}', '1')`;
  w.tamper(kept(`answer/${sent?.id}`, '{"message":"Zqcanary Gone Works is there"}'));
  w.tamper(`update operation set outcome_message = 'Zqcanary Gone Works is there' where id = '${sent?.id}'`);
  for (const state of ["open", "resolved"]) {
    w.tamper(`insert into quarantine (id, source, stream, place, field, code, message, raw_ref, raw_hash, first_seen,
      last_seen, last_read, state) values ('q-${state}', 'hr', 'staff', '${state}.ndjson:9', '', 'no-json', 'no JSON',
      'quarantine/q-${state}', '${state}', '1', '1', 1, '${state}')`);
    w.tamper(kept(`quarantine/q-${state}`, '{"name":"Zqcanary Gone Married"'));
  }
}

it(
  "a customer is erased with its people, every proof stays good, and nobody else is touched",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    await gone(w);
    await nothingWaits(w);
    await crmSync(w.place, "plan", "--show-private", "--by", "ben");
    planted(w);
    const before = bytesOf(w);
    expect(before.some((found) => found.startsWith("ledger.db: "))).toBe(true);
    const proof = w.path("before.json");
    expect((await w.run("audit", "prove", "--order", "O1", "--out", proof)).exitCode).toBe(0);
    const others = w.rows(othersValues);
    copyFileSync(w.path("ledger.db"), w.path("ledger.db.bak"));
    writeFileSync(w.path("shown.ndjson"), '{"plan":1,"private":"shown"}\n');

    const erased = await w.run(...eraseGone);
    expect([erased.exitCode, erased.stderr]).toEqual([0, ""]);
    expect(erased.stdout).toMatch(/^erased customer:crm\/C1, staff:crm\/S1-1, staff:crm\/S1-2: [1-9]\d* versions of/u);
    for (const own of ["resolved.ndjson", "ledger.db.lock", "ledger.db.heads", "ledger.db-"])
      expect(erased.stdout).not.toContain(own);
    for (const left of [
      "ledger.db.bak",
      "hr open.ndjson:9",
      "shown.ndjson",
      "shown to ben",
      "backups",
      "enterprise of crm/C1",
    ])
      expect(erased.stdout).toContain(left);

    // No byte of it is left where the ledger lies, and what is of others is as it was.
    expect(bytesOf(w).filter((found) => !found.startsWith("ledger.db.bak"))).toEqual([]);
    expect(w.rows(othersValues)).toEqual(others);
    expect(bytesOf(w, [canary.person, canary.name]).length).toBeGreaterThan(0);

    // The record holds, by the program and without it; so does a proof that was handed out before.
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
    const verify = verifierAlone();
    const exported = await exportOf(w);
    expect(verify(exported, "--heads", w.path("ledger.db.heads"))).toMatchObject({ code: 0 });
    expect(verify(proof)).toMatchObject({ code: 0 });
    expect((await w.run("audit", "prove", "--order", "O1", "--out", w.path("after.json"))).exitCode).toBe(0);
    expect(verify(w.path("after.json"))).toMatchObject({ code: 0 });
    const [entry] = w.rows<{ subject: string; body: string }>("select subject, body from audit where kind = 'erased'");
    expect(entry).toMatchObject({ subject: "customer:crm/C1" });
    expect(JSON.parse(entry?.body ?? "")).toMatchObject({
      by: "anna.lee",
      reason: "request 17",
      values: 5,
      answers: 1,
      texts: 1,
    });

    // Whoever asks is told that it is erased.
    for (const [stream, id] of [
      ["customer", "C1"],
      ["staff", "S1-1"],
    ] as const) {
      const { stdout } = await w.run("explain", stream, id);
      expect(stdout).toContain("name: (erased)");
      expect(stdout).not.toContain("(private)");
    }
    expect((await w.run("explain", "staff", "S2-1")).stdout).toContain("name: (private)");
    for (const kind of ["orders", "reconciliation", "exceptions"])
      expect((await w.run("report", kind, "--period", new Date().toISOString().slice(0, 7))).exitCode).toBe(0);
    expect((await w.run("status")).exitCode).toBe(0);

    const again = await w.run(...eraseGone);
    expect(again.stdout).toMatch(/^there is nothing left to erase of customer:crm\/C1/u);
    expect(w.rows("select 1 from audit where kind = 'erased'")).toHaveLength(1);
    // What follows says nothing else, and places nothing anew.
    const then = await w.does("run", "everything");
    expect([then.exitCode, then.calls], then.stdout).toEqual([0, {}]);
  },
);

it(
  "who comes back after that is a new record with new values, and no commitment is the one of before",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    const { customers, orders, staff } = w;
    await gone(w);
    await nothingWaits(w);
    expect((await w.run(...eraseGone)).exitCode).toBe(0);
    const commitments = (): string[] =>
      w
        .rows<{ body: string }>(
          "select body from record_version where stream <> 'orders' and id in ('C1', 'S1-1') and to_at is null",
        )
        .flatMap(({ body }) => [...body.matchAll(/"commitment":"(\w+)"/gu)].map(([, found]) => found ?? ""));
    const before = new Set(commitments());
    Object.assign(w, { customers, orders, staff });
    w.write();
    const ran = await w.does("run", "everything");
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(ran.calls, "its order and its accounts stand").toEqual({ E4: 1, M9: 2 });
    expect(bytesOf(w, ["Zqcanary Gone Works"])).not.toEqual([]);
    expect(commitments()).toHaveLength(before.size);
    expect(commitments().filter((one) => before.has(one))).toEqual([]);
    expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
    expect((await w.run("explain", "customer", "C1")).stdout).toContain("name: (private)");
  },
);

it(
  "nothing is erased that the CRM still gives, or while anything waits, and the message says what to do",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    const refused = async (code: string, ...words: string[]): Promise<string> => {
      const ended = await w.run("--json", "audit", "erase", ...words);
      expect([ended.exitCode, ended.stdout + ended.stderr]).toEqual([64, expect.stringContaining(`"${code}"`)]);
      return ended.stdout + ended.stderr;
    };
    const why = ["--reason", "request 17", "--by", "anna.lee"];
    expect(await refused("erase.current", "--customer", "C1", ...why)).toContain("source crm still gives");
    expect(await refused("erase.current", "--person", "S1-1", ...why)).toContain("source hr still gives");
    await refused("record.unknown", "--customer", "C9", ...why);
    await refused("usage", "--customer", "C1", "--person", "S1-1", ...why);
    await refused("usage", ...why);
    await refused("usage", "--customer", "C1", "--by", "anna.lee");
    await gone(w);
    expect(await refused("erase.open-operation", "--customer", "C1", ...why)).toContain("approves or rejects");
    await nothingWaits(w);
    const [done] = w.rows<{ id: string }>("select id from operation where state = 'done' and customer_id = 'C1'");
    for (const state of ["sending", "unknown", "parked", "planned"]) {
      w.tamper(`update operation set state = '${state}' where id = '${done?.id}'`);
      expect(await refused("erase.open-operation", "--customer", "C1", ...why)).toContain(`is ${state}`);
    }
    w.tamper(`update operation set state = 'done' where id = '${done?.id}'`);
    const { ledger } = await openLedger({ path: w.path("ledger.db") });
    ledger.runs.takeLock();
    expect((await w.run(...eraseGone)).exitCode, "while a run is on").toBe(75);
    ledger.close();
    for (const named of ["Zqcanary Gone Boss", `${canary.person} 2 1`, `${canary.name} 2`]) {
      const erase = ["audit", "erase", "--customer", "C1", "--reason", `${named} asked`, "--by", "anna.lee"];
      const { exitCode, stdout, stderr } = await crmSync(w.place, ...erase);
      expect([exitCode, stdout], named).toEqual([64, ""]);
      expect(stderr).toContain("repeats personal data");
    }
    expect(bytesOf(w)).not.toEqual([]);
    expect(
      w.rows("select 1 from private_value where wiped_at is not null and body is null and ref like '%/C1'"),
    ).toEqual([]);
    expect(w.rows("select 1 from audit where kind = 'erased'")).toEqual([]);
  },
);

it("a person is erased alone, and the rest of the customer stays", async () => {
  const w = await livedWithGone();
  w.staff = w.staff.filter(({ id }) => id !== "S1-1");
  w.write();
  await runs(w, 0);
  const erased = document(
    await w.run("--json", "audit", "erase", "--person", "S1-1", "--reason", "request 18", "--by", "anna.lee"),
  );
  expect(erased).toMatchObject({ of: "staff:crm/S1-1", counts: { values: 2 } });
  expect(bytesOf(w, ["zqcanarygone0", "Zqcanary Gone Person 0", "Zqcanary Gone Married"])).toEqual([]);
  expect(bytesOf(w, ["zqcanarygone1"])).not.toEqual([]);
  expect((await w.run("explain", "staff", "S1-2")).stdout).toContain("(private)");
  await runs(w, 0);
});

it(
  "while somebody reads the ledger its old bytes stay in the log, which is said, and the next time overwrites them",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    await gone(w);
    await nothingWaits(w);
    const reader = sqlite(w.path("ledger.db"), { readonly: true });
    reader.exec("begin");
    reader.prepare("select count(*) from audit").get();
    const first = await w.run(...eraseGone);
    expect([first.exitCode, first.stdout]).toEqual([1, expect.stringMatching(/^erased .*\n.*bytes may be left/u)]);
    expect(bytesOf(w)).not.toEqual([]);
    const told = /bytes of what was erased of customer:crm\/C1 .*\n.*audit erase --customer crm\/C1/u;
    expect((await w.run("status")).stdout).toMatch(told);
    reader.exec("commit");
    const second = await w.run(...eraseGone);
    expect([second.exitCode, second.stdout]).toEqual([0, expect.stringMatching(/^there is nothing left/u)]);
    expect(bytesOf(w)).toEqual([]);
    expect((await w.run("status")).stdout).not.toContain("bytes");
  },
);

it(
  "no entry of the audit record, and no table but the private one, ever held any of it",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    await gone(w);
    const texts = [...goneTexts, canary.name, canary.mobile, "Zqcanary", "zqcanary"];
    const tables = w
      .rows<{ name: string }>("select name from sqlite_schema where type = 'table'")
      .map(({ name }) => name);
    const holding = tables.filter((name) => {
      const rows = JSON.stringify(w.rows(`select * from "${name}"`));
      return texts.some((text) => rows.includes(text));
    });
    expect(holding).toEqual(["private_value"]);
  },
);

it(
  "what is taken back, or asked for by hand, says that a value is erased, and sends nothing without it",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    const [renaming] = w.rows<{ run: string }>("select run_id as run from operation where kind = 'edit-staff'");
    await gone(w);
    await nothingWaits(w);
    expect((await w.run(...eraseGone)).exitCode).toBe(0);
    const why = ["--reason", "lost the letter", "--by", "anna.lee"];
    for (const [says, exitCode, ...words] of [
      ["impossible .* the name of before is not kept any more", 3, "undo", renaming?.run ?? ""],
      ["account name of crm/S1-1 was erased", 64, "staff", "reset-password", "S1-1", ...why],
      ["password of staff member crm/S1-1 was erased", 64, "staff", "password", "S1-1"],
      ["the customer is gone from the CRM", 0, "resync", "--customer", "C1"],
      ["the account stays", 0, "plan", "--customer", "C1"],
    ] as const) {
      const then = await w.does(...words);
      expect.soft([then.exitCode, then.calls], words.join(" ")).toEqual([exitCode, {}]);
      expect.soft(then.stdout + then.stderr).toMatch(new RegExp(says, "u"));
    }
  },
);
