import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { canary, company } from "../support/world/crm.ts";
import { document, documents, expectDecent, until, world } from "../support/cli.ts";
import { startCrmSync } from "../support/process.ts";
import type { World } from "../support/cli.ts";

/** What the sandbox shows after a run that did everything. */
async function finishes(w: World, customers: number): Promise<void> {
  const ended = await w.run("run", "everything");
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(0);
  expect(w.sandbox.state()).toMatchObject({ enterprises: customers, assignments: customers });
  expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
}

describe("a ledger that cannot be written", () => {
  it(
    "because another program has it locked: a clear stop before any call, and the next run goes on",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(1, 1) });
      expect((await w.run("migrate")).exitCode).toBe(0);
      const other = new Database(w.path("ledger.db"));
      other.exec("begin immediate");
      const { result, calls } = await w.writes(() => w.run("run", "everything"));
      expect(result.exitCode).not.toBe(0);
      expect(calls).toEqual({});
      expect(result.stderr).toMatch(/lock|busy/iu);
      expect(result.stderr).not.toContain("defect");
      other.exec("rollback");
      other.close();
      await finishes(w, 1);
    },
  );

  it.runIf(process.getuid?.() === 0 && process.platform === "linux")(
    "because the disk is full: a clear stop, no call after it, and the next run goes on once there is room",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(12, 1) });
      mkdirSync(w.path("small"));
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=700k", "tmpfs", w.path("small")]);
      onTestFinished(() => void execFileSync("umount", ["-l", w.path("small")]));
      w.environment["CRM_SYNC__ledger__path"] = "small/ledger.db";
      const full = await w.run("run", "everything");
      expect(full.exitCode, full.stdout).not.toBe(0);
      expect(full.stderr).toMatch(/full|room|space/iu);
      expect(full.stderr).not.toContain("defect");
      expect(w.sandbox.state().assignments).toBeLessThan(12);
      execFileSync("mount", ["-o", "remount,size=40m", w.path("small")]);
      await finishes(w, 12);
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
    },
  );
});

describe("a sandbox inside the program", () => {
  it("whose state cannot be opened is a mistake of the configuration, in words", async () => {
    const w = await world({ isOnMachineTime: true, records: company(1, 1) });
    mkdirSync(w.path("sandbox.db"));
    const ended = await w.plain("--sandbox", "run", "everything");
    expect([ended.exitCode, ended.stderr]).toEqual([
      78,
      expect.stringContaining(`${w.path("sandbox.db")} cannot be opened`),
    ]);
    expect(ended.stderr).not.toContain("defect");
  });
});

describe("a terminal that closes", () => {
  it.each([["run", "everything"], ["apply"], ["resync", "--source", "crm"]])(
    "ends %s as SIGTERM does: calls come to their end, the outcome is written down, and nothing else begins",
    { tags: "long" },
    async (...words) => {
      const w = await world({ isOnMachineTime: true, records: company(4, 1), sandbox: { latencyMs: 250 } });
      w.environment["CRM_SYNC__concurrency__customers"] = "2";
      const running = w.start(...words);
      await until("an enterprise is being made", () => (w.sandbox.counts().calls["E2"] ?? 0) > 0);
      // Nobody reads any more, and the shell and the system both say so.
      running.child.stdout?.destroy();
      running.child.stderr?.destroy();
      running.child.kill("SIGHUP");
      running.child.kill("SIGHUP");
      const ended = await running.ended;
      expect({ code: ended.exitCode, signal: ended.signal }).toEqual({ code: 1, signal: null });
      expect(w.rows("select state, exit_code as exit from run")).toEqual([{ state: "stopped", exit: 1 }]);
      expect(w.rows("select id from operation where state in ('sending', 'unknown', 'parked')")).toEqual([]);
      expect(w.sandbox.state().enterprises).toBeLessThan(4);
      expect(w.rows("select * from attempt where outcome = 'done'")).toHaveLength(w.sandbox.counts().writingCalls);
    },
  );
});

describe("signals", () => {
  it(
    "the first lets calls come to their end, the second ends it at once, and nothing is done twice afterwards",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(6, 1), sandbox: { latencyMs: 400 } });
      w.environment["CRM_SYNC__concurrency__customers"] = "2";
      const running = w.start("run", "everything");
      await until("an order is on its way", () => (w.sandbox.counts().calls["E5"] ?? 0) > 0);
      running.child.kill("SIGINT");
      await running.says("once more ends it at once");
      running.child.kill("SIGINT");
      const ended = await running.ended;
      expect([ended.exitCode, ended.signal]).toEqual([130, null]);
      expectDecent(["run"], ended);
      w.answerAtOnce();
      await finishes(w, 6);
    },
  );

  it(
    "one SIGINT ends a run with its balance, and with exit code 1 because it did not come to its end",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(6, 1), sandbox: { latencyMs: 50 } });
      w.environment["CRM_SYNC__concurrency__customers"] = "1";
      const running = w.start("run", "everything");
      await until("an order is on its way", () => (w.sandbox.counts().calls["E5"] ?? 0) > 0);
      running.child.kill("SIGINT");
      const ended = await running.ended;
      expect(ended.exitCode, ended.stdout).toBe(1);
      expect(ended.stdout).toContain(": stopped");
      expect(ended.stdout).not.toContain("DOES NOT");
      expect(ended.stdout).toContain("exit 1: the run did not come to its end; the next one goes on from here");
      expect(w.rows("select id from operation where state = 'sending'")).toEqual([]);
      w.answerAtOnce();
      await finishes(w, 6);
    },
  );

  it(
    "a second run that starts meanwhile ends with 75 while the first is still on, and leaves no run behind",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(8, 1), sandbox: { latencyMs: 400 } });
      w.environment["CRM_SYNC__concurrency__customers"] = "1";
      const running = w.start("run", "everything");
      await until("the run is on", () => (w.sandbox.counts().calls["E3"] ?? 0) > 0);
      for (const words of [["run", "staff"], ["plan"], ["resync", "--customer", "C1"], ["--json", "apply"]]) {
        const second = await w.run(...words);
        expect(second.exitCode, words.join(" ")).toBe(75);
        expect(second.stderr, words.join(" ")).toContain("another run");
        expect(running.child.exitCode, "the first run is still on").toBeNull();
      }
      running.child.kill("SIGTERM");
      await running.ended;
      expect(w.rows("select distinct job from run")).toEqual([{ job: "everything" }]);
    },
  );

  it("a reader that goes away, such as head -1, is no error", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true, records: company(40, 1) });
    await w.run("run", "everything");
    const { shown, code, stderr } = await readInPart(w, "audit export", "head -1");
    expect(JSON.parse(shown)).toMatchObject({ export: "crm-sync audit record 2" });
    expect([code, stderr]).toEqual(["0", ""]);
  });

  it(
    "a reader that goes away early hides neither what the command came to nor cuts it off",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(3, 1) });
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const [, second] = w.staff;
      if (second !== undefined) second.name = "a name that is much longer than thirty characters";
      w.write();
      for (const [words, code] of [
        ["plan", "3"],
        ["run everything", "3"],
        ["run verify", "3"],
      ] as const)
        expect(await readInPart(w, words, "true"), words).toEqual({
          shown: "",
          code,
          stderr: expect.not.stringMatching(/crm-sync failed|EPIPE|Warning/u),
        });
      expect(w.rows("select job, state, exit_code from run order by started_at, id")).toEqual([
        { job: "everything", state: "done", exit_code: 0 },
        { job: "plan", state: "done", exit_code: 3 },
        { job: "everything", state: "done", exit_code: 3 },
        { job: "verify", state: "done", exit_code: 3 },
      ]);
      const unread = await readInPart(w, "staff password S1-1", "true");
      expect([unread.code, unread.stderr]).toEqual(["1", expect.stringContaining("it was not handed out")]);
      expect((await readInPart(w, "staff password S1-1", "cat")).shown).toMatch(/^\S{8,}\n$/u);
      w.tamper("drop trigger audit_refuses_update; update audit set subject = 'x' where sequence = 2");
      expect((await readInPart(w, "audit verify", "true")).code).toBe("65");
    },
  );
});

/** What a reader took of the output of a command before it went, and what the command ended with. */
async function readInPart(
  w: World,
  words: string,
  reader: string,
): Promise<Record<"shown" | "code" | "stderr", string>> {
  const bin = join(import.meta.dirname, "../../bin/crm-sync");
  const line = `{ ${bin} --sandbox=${w.sandbox.url} ${words}; echo $? >code.txt; } 2>err.txt | ${reader}`;
  const { stdout: shown } = await promisify(execFile)("/bin/bash", ["-c", line], {
    cwd: w.folder,
    env: { ...process.env, ...w.environment },
  });
  const of = (file: string): string => readFileSync(w.path(file), "utf8");
  return { shown, code: of("code.txt").trim(), stderr: of("err.txt") };
}

describe("for machines", () => {
  it("every command gives JSON on stdout, and nothing else", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true, records: company(1, 1) });
    const bad = {
      ...company(1, 1).staff[0],
      id: "S1-2",
      login: `${canary.login}y`,
      name: "x".repeat(31),
    } as World["staff"][number];
    w.staff.push(bad);
    w.write();
    const commands: [string[], number][] = [
      [["plan"], 3],
      [["run", "everything"], 3],
      [["resync", "--customer", "C1"], 3],
      [["apply"], 3],
      [["run", "verify"], 3],
      [["check"], 3],
      [["status"], 0],
      [["runs"], 0],
      [["run", "show", "last"], 0],
      [["explain", "customer", "C1"], 0],
      [["explain", "order", "O1"], 0],
      [["explain", "staff", "S1-2"], 0],
      [["explain", "order", "nowhere"], 64],
      [["quarantine", "list"], 0],
      [["quarantine", "retry", "all"], 3],
      [["settle", "list"], 0],
      [["report", "orders", "--period", "2026-10", "--format", "json"], 0],
      [["report", "reconciliation", "--period", "2026-10", "--format", "json"], 0],
      [["report", "exceptions", "--period", "2026-10", "--format", "json"], 0],
      [["audit", "verify"], 0],
      [["audit", "head"], 0],
      [["audit", "export"], 0],
      [["migrate"], 0],
      [["run", "nothing"], 64],
      [["quarantine", "show", "q-nowhere"], 64],
    ];
    for (const [words, code] of commands) {
      const ended = await w.run("--json", ...words);
      expect.soft(ended.exitCode, `${words.join(" ")}: ${ended.stdout}${ended.stderr}`).toBe(code);
      expect.soft(documents(ended).length, words.join(" ")).toBeGreaterThan(0);
    }
    const [row] = document(await w.run("--json", "quarantine", "list"));
    const shown = document(await w.run("--json", "quarantine", "show", row.id));
    expect(shown).toMatchObject({ id: row.id, field: "name" });
    const raw = await w.start("--json", "quarantine", "show", row.id, "--raw").ended;
    expect(document(raw).raw, "the raw form is shown to whoever asks for it").toContain(canary.login);
  });
});

describe("what is private", () => {
  it("is in no table but private_value, in no log and in no plan file", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true, records: company(2, 2) });
    const configured = readFileSync(w.path("crm-sync.yaml"), "utf8");
    writeFileSync(w.path("crm-sync.yaml"), configured.replace("log: { level: warn }", "log: { level: trace }"));
    w.sandbox.faults.add({ operation: "M1", fault: "oddCode", times: 1 });
    w.sandbox.faults.add({ operation: "E2", fault: "http502", times: 1 });
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
    const [first] = w.customers;
    await w.run("plan", "--out", w.path("plan.ndjson"));
    await w.run("run", "everything");
    if (first !== undefined) first.name = `${canary.name} renamed`;
    writeFileSync(
      w.path("data/staff.ndjson"),
      `${readFileSync(w.path("data/staff.ndjson"), "utf8")}{"id":"S9","name":"${canary.person}","login":\n`,
    );
    await w.run("run", "everything");
    await w.run("run", "verify");
    await w.run("audit", "export", "--out", w.path("audit.ndjson"));
    const tables = w.rows<{ name: string }>(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const text = JSON.stringify(w.rows(`select * from "${name}"`));
      if (/zqcanary|\+4917700700700/iu.test(text)) found.push(name);
      expect.soft(/sandbox-(?:app|user)-token/u.test(text), `${name} holds a token`).toBe(false);
    }
    expect(found).toEqual(["private_value"]);
    for (const file of readdirSync(w.folder).filter((name) => !name.startsWith("ledger.db") && name !== "data")) {
      const text = readFileSync(w.path(file), "utf8");
      expect.soft(/zqcanary|\+4917700700700|sandbox-(?:app|user)-token/iu.exec(text)?.[0], file).toBeUndefined();
    }
  });

  it("is in no message about a configuration or a source that is wrong", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true, records: company(1, 1) });
    const configured = readFileSync(w.path("crm-sync.yaml"), "utf8");
    writeFileSync(w.path("crm-sync.yaml"), configured.replace("sealKey: env:SEAL_KEY", `sealKey: ${canary.password}`));
    const clear = await startCrmSync({ folder: w.folder, environment: w.environment }, "check").ended;
    expectDecent(["check"], clear);
    expect(clear.exitCode).toBe(78);
    expect(clear.stderr).toContain("`ledger.sealKey` is a value that is not shown");
  });
});
