import { rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { worldConfiguration } from "../support/cli.ts";
import { startCrmSync } from "../support/process.ts";
import { document, expectDecent, promptRetries, world } from "../support/cli.ts";
import { folder as newFolder } from "../support/world/start.ts";

describe("check", () => {
  it("is content with a world that is in order, and writes nothing", async () => {
    const w = await world({ isNew: true });
    const { result, calls } = await w.writes(() => w.run("check"));
    expect(result.exitCode).toBe(0);
    expect(result.stdout).toContain("source crm: can be read: customers, orders");
    expect(result.stdout).toContain("order service: answers");
    expect(result.stdout).toContain("member-center: answers");
    expect(result.stdout).not.toContain("BAD");
    expect(calls).toEqual({});
    expect(() => w.rows("select 1")).toThrow(/unable to open/u);
  });

  it("names a source whose file is missing, and still looks at the others and at the services", async () => {
    const w = await world({ isNew: true });
    unlinkSync(w.path("data/staff.ndjson"));
    const ended = await w.run("check");
    expect(ended.exitCode).toBe(7);
    expect(ended.stdout).toMatch(/^BAD +source hr: .*staff\.ndjson/mu);
    expect(ended.stdout).toMatch(/^ +→ /mu);
    expect(ended.stdout).toContain("good  source crm");
    expect(ended.stdout).toContain("good  order service");
    const asJson = document(await w.run("--json", "check"));
    const bad = asJson.filter((finding: { good: boolean }) => !finding.good);
    expect(bad).toHaveLength(1);
    expect(bad[0]).toMatchObject({ what: "source hr", kind: "source" });
    expect(bad[0].cure).toMatch(/\w/u);
  });

  it("names every row without a value, its key and the choices, before anything needs it", async () => {
    const w = await world({ isNew: true });
    w.extra = services(w.sandbox.url);
    w.write();
    const ended = await w.plain("check");
    expect(ended.exitCode).toBe(78);
    for (const row of ["channelCode (A9)", "rootParentMerchandiseNum (A24)", "timeUnits (A22)"]) {
      expect(ended.stdout).toContain(`assumptions.${row}: has no value`);
    }
    const [, cure] = /timeCodecs\.productLimit \(A20\).*\n *→ (.*)/u.exec(ended.stdout) ?? [];
    expect(cure).toBe("set it to epoch_ms or epoch_s or yyyymmdd");
    expect(ended.stdout).toContain("good  source crm");
    expect(w.sandbox.counts().writingCalls).toBe(0);
  });

  it("tells a wrong password from a service that is down", { tags: "long" }, async () => {
    const w = await world({ isNew: true });
    w.extra = services(w.sandbox.url).replaceAll("sandbox-app-token", "zqcanary-wrong-token");
    w.write();
    const wrong = await w.plain("check");
    expect(wrong.stdout).toMatch(/^BAD +order service: .*(401|token|refused)/mu);
    expect(wrong.stdout).toMatch(/^BAD +member-center: /mu);
    Object.assign(w.environment, promptRetries);
    await w.sandbox.refuseConnections();
    const down = await w.plain("check");
    expect(down.stdout).toMatch(/^BAD +order service: .*(ECONNREFUSED|reach|connect)/imu);
    expect(down.stdout).toMatch(/^BAD +member-center: /mu);
    const wrongLine = /^BAD +order service: .*/mu.exec(wrong.stdout)?.[0];
    expect(/^BAD +order service: .*/mu.exec(down.stdout)?.[0]).not.toBe(wrongLine);
  });

  it("names the preset that a source is written from, and a run keeps its name", { tags: "long" }, async () => {
    const w = await world({ isNew: true });
    const source = `  deals:
    preset: pipedrive
    baseUrl: http://127.0.0.1:9/api/v2
    retries: 0
    tables: { products: { inline: { "17": { gmsPid: CAD, licenseType: softkey, type: tool, timeUnit: YEAR,
      timeUnitQuantity: 1, term: 1-0-0 } } } }
    streams: { customers: null, orders: null, staff: { mapping: { userName: { template: "p{id}" } } } }
`;
    writeFileSync(w.path("crm-sync.yaml"), worldConfiguration.replace("sources:\n", `sources:\n${source}`));
    w.environment["PIPEDRIVE_TOKEN"] = "zqcanary-token";
    const ended = await w.run("check");
    expect(ended.stdout).toMatch(/^good {2}configuration: .*crm-sync\.yaml; source deals: preset pipedrive$/mu);
    expect(ended.stdout).toMatch(/^BAD {3}source deals: /mu);
    await w.run("run", "customers-and-orders");
    const [header] = w.rows("select header from run");
    expect(JSON.stringify(header)).toMatch(/presets\W+deals\W+pipedrive/u);
  });

  it("exits 7 when only a service is down", { tags: "long" }, async () => {
    const w = await world({ isNew: true });
    Object.assign(w.environment, promptRetries);
    await w.sandbox.refuseConnections();
    const ended = await w.run("check");
    expect(ended.exitCode).toBe(7);
    expect(ended.stdout.match(/^BAD/gmu)).toHaveLength(2);
  });
});

/** The services of a sandbox, configured as real ones are. */
function services(url: string): string {
  return `orderService:
  baseUrl: ${url}
  appKey: sandbox-app
  tokens: { authorization: { fixed: sandbox-app-token } }
memberCenter:
  baseUrl: ${url}
  tokens: { authorization: { fixed: sandbox-app-token }, userToken: { fixed: sandbox-user-token } }
`;
}

describe("a configuration with mistakes", () => {
  const mistakes: [string, (text: string) => string, { line: RegExp; key: string; found: string; expected: RegExp }][] =
    [
      [
        "an unknown key",
        (text) => text.replace("zone: UTC", "zone: UTC\nretries: 3"),
        { line: /crm-sync\.yaml:5:1/u, key: "retries", found: "retries", expected: /unknown|is no key|expected/iu },
      ],
      [
        "a zone that does not exist",
        (text) => text.replace("zone: UTC", "zone: Europe/Atlantis"),
        { line: /crm-sync\.yaml:4:\d+/u, key: "zone", found: "Europe/Atlantis", expected: /time zone/u },
      ],
      [
        "a number out of range",
        (text) => `${text}limits: { sourceShrink: 20 }\n`,
        { line: /crm-sync\.yaml:\d+:\d+/u, key: "limits.sourceShrink", found: "20", expected: /1/u },
      ],
      [
        "a mapping without a required field",
        (text) => text.replace("          branchName: branch\n", ""),
        { line: /crm-sync\.yaml:\d+:\d+/u, key: "branchName", found: "missing", expected: /required/u },
      ],
      [
        "a schedule that is none",
        (text) => `${text}jobs: { staff: { schedule: "every hour" } }\n`,
        { line: /crm-sync\.yaml:\d+:\d+/u, key: "jobs.staff.schedule", found: "every hour", expected: /five fields/u },
      ],
      [
        "the same key twice",
        (text) => `${text}zone: UTC\n`,
        {
          line: new RegExp(`crm-sync\\.yaml:${worldConfiguration.split("\n").length}:1`, "u"),
          key: "key",
          found: "",
          expected: /twice/u,
        },
      ],
    ];

  it.each(mistakes)("is refused with its place for %s, and nothing is started", async (_name, spoil, expected) => {
    const w = await world({ isNew: true });
    writeFileSync(w.path("crm-sync.yaml"), spoil(worldConfiguration));
    const ended = await w.run("run", "customers-and-orders");
    expect(ended.exitCode).toBe(78);
    expect(ended.stdout).toBe("");
    expect(ended.stderr).toMatch(expected.line);
    expect(ended.stderr).toContain(expected.key);
    expect(ended.stderr).toContain(expected.found);
    expect(ended.stderr).toMatch(expected.expected);
    expect(ended.stderr).toMatch(/^ +→ \w/mu);
    expect(() => w.rows("select 1")).toThrow(/unable to open/u);
    expect(w.sandbox.counts().calls).toEqual({});
  });

  it("says all mistakes at once", async () => {
    const w = await world({ isNew: true });
    writeFileSync(w.path("crm-sync.yaml"), worldConfiguration.replace("zone: UTC", "zone: Nowhere\ncolour: red"));
    const ended = await w.run("--json", "check");
    expect(ended.exitCode).toBe(78);
    expect(document(ended).problems.map((problem: { place: string }) => problem.place)).toHaveLength(2);
    expect(ended.stderr).toContain("zone");
    expect(ended.stderr).toContain("colour");
  });

  it("is refused when the file is not there, and says where it looked", { tags: "long" }, async () => {
    const folder = newFolder();
    const ended = await startCrmSync({ folder }, "check").ended;
    expectDecent(["check"], ended);
    expect(ended.exitCode).toBe(78);
    expect(ended.stderr).toContain("crm-sync.yaml");
    expect(ended.stderr).toMatch(/init|--config/u);
  });

  it("is refused when the environment lacks a secret, by its name", async () => {
    const w = await world({ isNew: true });
    w.environment["SEAL_KEY"] = undefined;
    const ended = await w.run("check");
    expect(ended.exitCode).toBe(78);
    expect(ended.stderr).toContain("SEAL_KEY");
    expect(ended.stderr).toContain("ledger.sealKey");
  });
});

describe("the words of a command line", () => {
  it("refuses an unknown command, option or job with a suggestion and exit code 64", async () => {
    const w = await world({ isNew: true });
    const command = await w.plain("chekc");
    expect(command.exitCode).toBe(64);
    expect(command.stderr).toContain("unknown command 'chekc'");
    expect(command.stderr).toContain("Did you mean check?");
    const option = await w.plain("plan", "--custmer", "C1");
    expect(option.exitCode).toBe(64);
    expect(option.stderr).toContain("Did you mean --customer?");
    const missing = await w.plain("explain", "order");
    expect(missing.exitCode).toBe(64);
    const job = await w.run("run", "everythign");
    expect(job.exitCode).toBe(64);
    expect(job.stderr).toContain("there is no job everythign");
    expect(job.stderr).toContain("everything");
    const nothing = await w.run("run");
    expect(nothing.exitCode).toBe(64);
    expect(w.sandbox.counts().calls).toEqual({});
  });

  it("explains every command with an example", async () => {
    const w = await world({ isNew: true });
    const help = async (...words: string[]): Promise<string> => {
      const ended = await w.plain(...words, "--help");
      expect(ended.exitCode, words.join(" ")).toBe(0);
      expect(ended.stdout, words.join(" ")).toContain("Example:");
      expect(ended.stderr).toBe("");
      return ended.stdout;
    };
    const top = await help();
    const commands = [...top.matchAll(/^ {2}([a-z]+)(?: |$)/gmu)]
      .map(([, name]) => name ?? "")
      .filter((name) => name !== "help");
    expect(commands).toEqual(
      expect.arrayContaining([
        "check",
        "plan",
        "apply",
        "run",
        "resync",
        "serve",
        "status",
        "runs",
        "explain",
        "quarantine",
        "settle",
        "approve",
        "reject",
        "staff",
        "report",
        "audit",
        "migrate",
        "sandbox",
        "init",
      ]),
    );
    for (const name of commands.filter((command) => !["quarantine", "staff", "audit"].includes(command)))
      await help(name);
    for (const words of [
      ["quarantine", "retry"],
      ["staff", "password"],
      ["audit", "verify"],
      ["settle", "list"],
      ["run", "show"],
    ])
      await help(...words);
  });

  it("makes a configuration to start from and never writes over one", { tags: "long" }, async () => {
    const folder = newFolder();
    const made = await startCrmSync({ folder }, "init").ended;
    expect(made.exitCode, made.stderr).toBe(0);
    expect(statSync(join(folder, "crm-sync.yaml")).mode & 0o777).toBe(0o644);
    const again = await startCrmSync({ folder }, "--json", "init").ended;
    expect(again.exitCode).toBe(64);
    expect(document(again).error.code).toBe("init.exists");
  });
});

describe("commands that need a ledger", () => {
  const words = [
    ["status"],
    ["runs"],
    ["run", "show", "last"],
    ["explain", "customer", "C1"],
    ["quarantine", "list"],
    ["quarantine", "show", "q-1"],
    ["quarantine", "retry", "all"],
    ["settle", "list"],
    ["settle", "op_1", "--applied", "--reason", "seen"],
    ["approve", "h-1", "--reason", "asked"],
    ["staff", "password", "S1"],
    ["report", "orders", "--period", "2026-10"],
    ["audit", "verify"],
    ["audit", "head"],
    ["audit", "export"],
  ];

  it("say that there is none yet, and make none", { tags: "long" }, async () => {
    const w = await world({ isNew: true });
    for (const command of words) {
      const ended = await w.run("--json", ...command);
      expect.soft(ended.exitCode, `${command.join(" ")}: ${ended.stderr}`).toBe(65);
      expect.soft(ended.stderr, command.join(" ")).toContain("there is no ledger at");
      expect.soft(() => w.rows("select 1"), command.join(" ")).toThrow(/unable to open/u);
      rmSync(w.path("ledger.db"), { force: true });
    }
    expect(w.sandbox.counts().calls).toEqual({});
  });

  it(
    "refuse a file that is no ledger, another program's database, and one that is newer than the program",
    { tags: "long" },
    async () => {
      const w = await world({ isNew: true });
      writeFileSync(w.path("ledger.db"), "This is a letter to my grandmother, and no database at all.\n".repeat(100));
      const letter = await w.run("run", "everything");
      expect(letter.exitCode).toBe(65);
      expect(letter.stderr).toMatch(/ledger\.db is not a ledger: it is no SQLite database/u);

      rmSync(w.path("ledger.db"));
      w.tamper("create table recipes (name text)");
      const foreign = await w.run("run", "everything");
      expect(foreign.exitCode).toBe(65);

      rmSync(w.path("ledger.db"), { force: true });
      rmSync(w.path("ledger.db-wal"), { force: true });
      rmSync(w.path("ledger.db-shm"), { force: true });
      expect((await w.run("migrate")).exitCode).toBe(0);
      w.tamper("insert into kysely_migration (name, timestamp) values ('9999_from_the_future', '2099-01-01')");
      for (const command of [["run", "everything"], ["status"], ["migrate"]]) {
        const newer = await w.run(...command);
        expect(newer.exitCode, command.join(" ")).toBe(65);
        expect(newer.stderr).toMatch(/newer/u);
      }
      expect(w.sandbox.counts().calls).toEqual({});
    },
  );
});
