/** @module-tag sized */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { inspect } from "node:util";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { configSchema, loadConfig } from "../../src/config/config.ts";
import { settingsOf } from "../../scripts/docs/settings.ts";
import { jsonSchemaOf } from "../../src/config/schema.ts";
import { bindJobs } from "../../src/operate/job.ts";
import { customersAndOrders } from "../../jobs/customers-and-orders.ts";
import { monthlyReport } from "../../jobs/monthly-report.ts";
import { staff } from "../../jobs/staff.ts";
import { verify } from "../../jobs/verify.ts";
import { sizes } from "../support/sizes.ts";
import { real, realEnvironment } from "./real-config.ts";
import { shown } from "./small-config.ts";

const directory = mkdtempSync(join(tmpdir(), "crm-sync-config-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let count = 0;

async function load(text: string | Uint8Array, environment: Record<string, string | undefined> = realEnvironment) {
  count += 1;
  const path = join(directory, `crm-${count}.yaml`);
  writeFileSync(path, text);
  return { result: loadConfig({ path, environment }), path };
}

async function refusals(text: string, environment?: Record<string, string | undefined>): Promise<string[]> {
  const { result, path } = await load(text, environment);
  if (result.ok) throw new Error("it was accepted");
  return shown(result.error, path);
}

describe("the configuration of the program", () => {
  it("loads, with every secret apart", async () => {
    const { result } = await load(real);
    if (!result.ok) throw new Error(result.error.map((problem) => `${problem.place} ${problem.message}`).join("\n"));
    const { config, secrets } = result.value;
    expect(config.assumptions.poolBatch).toBe(100);
    expect(config.orderService.callsPerSecond).toBe(5);
    for (const value of Object.values(realEnvironment)) expect(secrets.known.isIn(value)).toBe(true);
    const printed = inspect(result.value, { depth: 20, showHidden: true }) + JSON.stringify(result.value);
    expect(printed).not.toContain("canary");
  });

  it("asks at the start for every secret that it refers to", async () => {
    const lines = real.split("\n");
    for (const name of Object.keys(realEnvironment)) {
      const line = lines.findIndex((text) => text.includes(name)) + 1;
      const found = await refusals(real, { ...realEnvironment, [name]: undefined });
      expect(found).toHaveLength(1);
      expect(found[0]).toMatch(new RegExp(`^${line}:\\d+ config\\.missing-secret .*env:${name}`, "u"));
    }
  });

  it("takes a token as it is for a service on this machine only", async () => {
    const fixed = real.replace("authorization: env:ORDER_TOKEN", "authorization: {fixed: canary-fixed}");
    expect((await refusals(fixed))[0]).toMatch(/^12:\d+ config.literal-secret /u);
    expect((await refusals(fixed)).join("")).not.toContain("canary");
    const local = await load(fixed.replace("https://orders.example.com", "http://127.0.0.1:4010"));
    expect(local.result.ok).toBe(true);
  });

  it("takes names of secrets in a log-in, and no secret in the file", async () => {
    const withLogIn = (password: string): string =>
      real.replace(
        /^sources:\n/mu,
        `sources:
  web:
    kind: http
    auth:
      kind: session
      secrets: {password: "env:HOOK_TOKEN"}
      login: {url: "https://crm.example.com/login", body: {login: sync, password: "${password}"}}
      take: {token: {at: token}}
      put: [{parameter: X-Session, value: "{token}"}]
    streams:
      staff: {url: "https://crm.example.com/staff", mapping: {id: id, customerId: c, userName: u, name: n}}
`,
      );
    const { result } = await load(withLogIn("{password}"));
    expect(result.ok ? [] : result.error.map(({ message }) => message)).toEqual([]);
    const found = await refusals(withLogIn("canary-password"));
    expect(found.join("\n")).toMatch(/config\.literal-secret .*sources\.web\.auth\.login\.body\.password/u);
    expect(found.join("\n")).not.toContain("canary");
  });

  it("points at a mistake inside a mapping", async () => {
    const found = await refusals(real.replace("name: companyName", "nmae: companyName"));
    expect(found[0]).toMatch(/^\d+:\d+ config/u);
    const unknown = found.find((line) => line.includes("mapping.nmae`: unknown target field"));
    expect(unknown).toMatch(/use one of: .*\bname\b/u);
  });

  it("offers only the keys of the kind that was chosen", async () => {
    const found = await refusals(real.replace("        files: customers.csv", "        fles: customers.csv"));
    expect(found.find((line) => line.includes("fles"))).toMatch(/use one of: .*\bfiles\b/u);
    const other = await refusals(
      real.replace("        files: customers.csv", "        files: customers.csv\n        zzzzzzzzzzzzzz: 1"),
    );
    expect(other[0]).not.toContain("paging");
  });

  it("binds the jobs that ship with the program and those of its own", async () => {
    const { result } = await load(real);
    if (!result.ok) throw new Error("refused");
    const shipped = [customersAndOrders, staff, verify, monthlyReport];
    const jobs = bindJobs(shipped, result.value.config);
    if (!jobs.ok) throw new Error(jobs.error.map((problem) => problem.message).join("\n"));
    expect(jobs.value.map((job) => [job.id, job.schedule?.cron.text, job.schedule?.zone, job.sources])).toEqual([
      ["customers-and-orders", "*/15 * * * *", "Europe/Berlin", ["crm"]],
      ["staff", undefined, undefined, []],
      ["verify", "20 2 * * *", "Europe/Berlin", ["crm"]],
      ["monthly-report", "0 5 1 * *", "Europe/Berlin", ["crm"]],
      ["night", "30 2 * * *", "Europe/Berlin", ["crm"]],
    ]);
    const wrong = bindJobs(shipped, {
      ...result.value.config,
      jobs: {
        staf: {},
        verify: { kind: "sync", sources: ["nowhere"] },
        staff: { sources: ["crm"] },
        mine: { kind: "report" },
      },
    });
    expect(wrong.ok ? [] : wrong.error.map((problem) => `${problem.place} ${problem.message}`)).toEqual([
      "jobs.staff `jobs.staff.sources` names crm, but this source has no staff.",
      "jobs.verify `jobs.verify.kind` cannot change a job of crm-sync itself from verify to sync.",
      "jobs.verify `jobs.verify.sources` names nowhere, but there is no such source.",
      "jobs.staf `jobs.staf.kind` is missing, and crm-sync has no job of this name itself.",
      "jobs.mine `jobs.mine.reports` is missing.",
    ]);
  });
});

describe("the reference of the configuration", () => {
  const schema = jsonSchemaOf(configSchema);

  it("takes a schedule from the environment as it is written, and null as none", async () => {
    const schedules: Record<string, string | null> = {
      "*/15 * * * *": "*/15 * * * *",
      "0 3 * * *": "0 3 * * *",
      null: null,
      "~": null,
    };
    for (const [text, schedule] of Object.entries(schedules)) {
      const { result } = await load(real, { ...realEnvironment, CRM_SYNC__jobs__staff__schedule: text });
      expect.soft(result.ok && result.value.config.jobs["staff"]?.schedule, text).toBe(schedule);
    }
    const { result } = await load(real, { ...realEnvironment, CRM_SYNC__alerts__remindAfter: "null" });
    expect(result.ok && result.value.config.alerts.remindAfter).toBeNull();
    expect(await refusals(real, { ...realEnvironment, CRM_SYNC__jobs__staff__schedule: "" })).toEqual([
      expect.stringContaining("`jobs.staff.schedule`"),
    ]);
  });

  it("has every key with its default and a description", () => {
    const rows = settingsOf(schema);
    expect(rows.length).toBeGreaterThan(150);
    expect(rows.find((row) => row.key === "settle.maxWaitMs")).toMatchObject({
      default: "30000",
      type: "whole number, at least 0",
      required: false,
    });
    expect(rows.find((row) => row.key === "ledger.path")).toMatchObject({ required: true, default: undefined });
    // Rooms that describe their own keys are held to it; keys of the http source and single keys of A12, A25 and A27
    // explain themselves by name.
    const own = rows.filter((row) => !/^(?:sources|orderService|memberCenter|assumptions)\b./u.test(row.key));
    expect(own.filter((row) => row.description === undefined).map((row) => row.key)).toEqual([]);
    const described = rows.filter((row) => row.description !== undefined);
    expect(described.length / rows.length).toBeGreaterThan(0.8);
  });
});

describe("a key that nothing reads", () => {
  const source = join(import.meta.dirname, "../../src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("sandbox/") && name !== "config/findings.ts")
    .map((name) => ({
      isSchema: /settings\.ts$|^config\/schema\.ts$/u.test(name),
      text: readFileSync(join(source, name), "utf8").replaceAll(/\/\*\*[^]*?\*\/|^\s*\/\/.*$/gmu, ""),
    }));
  const textOf = (isSchema: boolean): string =>
    files
      .filter((file) => file.isSchema === isSchema)
      .map((file) => file.text)
      .join("\n");
  const [schemas, program] = [textOf(true), textOf(false)];

  it("is no key of the schema", { tags: "long" }, () => {
    const names = [...new Set(settingsOf(jsonSchemaOf(configSchema)).map(({ key }) => key.replace(/^.*[.>\]]/u, "")))];
    const isRead = (name: string): boolean =>
      new RegExp(`\\.${name}\\b|\\["${name}"\\]|[{,]\\s*${name}\\b\\s*[,}=:]`, "u").test(program) ||
      new RegExp(`\\.${name}\\b(?!\\()`, "u").test(schemas);
    expect(names.length).toBeGreaterThan(100);
    expect(names.filter((name) => !isRead(name))).toEqual([]);
  });
});

describe("a corrupt configuration", () => {
  const lines = real.trimEnd().split("\n");
  const keyLines = lines.flatMap((line, index) => (/^\s*[\w]+:/u.test(line) ? [index] : []));
  const typed: [RegExp, string][] = [
    [
      /^( *(?:floor|absenceReads|readings|maxWaitMs|port|timeoutMs|customers|callsAtOnce|rawRecordDays): ).+$/u,
      "$1many",
    ],
    [/^( *(?:share|sourceShrink|callsPerSecond): ).+$/u, "$1[1, 2]"],
    [/^( *(?:baseUrl|url|tokenUrl): ).+$/u, "$1ftp://files.example.com"],
    [/^( *(?:zone): ).+$/u, "$1Europe/Nowhere"],
    [/^( *(?:unseen|kind|level|grant|format): ).+$/u, "$1nonsense"],
    [/^( *(?:schedule): ).+$/u, '$1"99 * * * *"'],
    [/^( *(?:sealKey|authorization|clientSecret|token): ).+$/u, "$1plain-canary"],
  ];
  const typedLines = lines.flatMap((line, index) =>
    typed.filter(([pattern]) => pattern.test(line)).map((change) => ({ index, change })),
  );
  const openMaps = new Set(["timeUnits", "mapping"]);

  /** One way to spoil the text, and what it did. */
  const corruption = fc.oneof(
    fc.constantFrom(...typedLines).map(({ index, change }) => ({
      what: `value on line ${index + 1}`,
      text: lines.map((line, at) => (at === index ? line.replace(change[0], change[1]) : line)).join("\n"),
    })),
    fc.constantFrom(...keyLines.filter((index) => !inOpenMap(index))).map((index) => ({
      what: `key twice on line ${index + 1}`,
      text: [...lines.slice(0, index), ...block(index), ...lines.slice(index)].join("\n"),
    })),
    fc
      .tuple(
        fc.constantFrom(...keyLines.filter((index) => !inOpenMap(index) && !named(index))),
        fc.stringMatching(/^[a-z]{1,4}Q$/u),
      )
      .map(([index, tail]) => ({
        what: `unknown key on line ${index + 1}`,
        text: lines.map((line, at) => (at === index ? line.replace(/^(\s*\w+):/u, `$1${tail}:`) : line)).join("\n"),
      })),
    fc
      .tuple(
        fc.constantFrom(...keyLines),
        fc.constantFrom("\t", '"', "{", "[", "- ", "%", "*gone", "&", "!!js/function "),
      )
      .map(([index, mark]) => ({
        what: `${JSON.stringify(mark)} before line ${index + 1}`,
        text: [
          ...lines.slice(0, index),
          `${mark}${lines[index] ?? ""}`,
          ...lines.slice(index + 1),
          mark === '"' ? "" : "]",
        ].join("\n"),
      })),
    fc
      .constantFrom(
        "ledger:\n  path: ledger.db\n  sealKey: env:SEAL_KEY\n",
        "  baseUrl: https://members.example.com\n",
        '  appKey: "0012"\n',
      )
      .map((part) => ({
        what: `without ${part.trim().split("\n")[0] ?? ""}`,
        text: real.replace(part, ""),
      })),
    fc
      .constantFrom(...Object.keys(realEnvironment))
      .map((name) => ({ what: `reference to an unset ${name}`, text: real.replace(name, `${name}_GONE`) })),
    fc.tuple(fc.nat({ max: real.length - 1 }), fc.constantFrom("\u0000", "\u0007", "\uFFFE")).map(([at, sign]) => ({
      what: `a control character at ${at}`,
      text: `${real.slice(0, at)}\n${sign}: [\n${real.slice(at)}`,
    })),
  );

  function inOpenMap(index: number): boolean {
    const depth = indent(index);
    for (let at = index - 1; at >= 0; at -= 1) {
      if (indent(at) < depth)
        return openMaps.has((lines[at] ?? "").trim().replace(":", "")) || (indent(at) > 0 && inOpenMap(at));
    }
    return false;
  }

  /** A line whose key is a name that the person chose. */
  function named(index: number): boolean {
    return ["crm", "staff", "night"].includes((lines[index] ?? "").trim().replace(/:.*$/u, ""));
  }

  function indent(index: number): number {
    return (lines[index] ?? "").search(/\S/u);
  }

  /** The line and what is nested under it. */
  function block(index: number): string[] {
    let end = index + 1;
    while (end < lines.length && indent(end) > indent(index)) end += 1;
    return lines.slice(index, end);
  }

  it(
    `is refused with file and line, ${sizes.mistakes} of ${sizes.mistakes}, without repeating a secret`,
    { tags: "long" },
    async () => {
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(corruption, async ({ what, text }) => {
          const { result, path } = await load(text);
          expect(result.ok, what).toBe(false);
          if (result.ok) return;
          refused += 1;
          expect(result.error.length, what).toBeGreaterThan(0);
          for (const problem of result.error) {
            expect(problem.place, what).toMatch(/:\d+:\d+$/u);
            expect(problem.place?.startsWith(`${path}:`), what).toBe(true);
            expect(problem.exitCode, what).toBe(78);
            expect(problem.cure, what).toMatch(/\w/u);
            expect(problem.message, what).not.toContain("canary");
          }
        }),
        { numRuns: sizes.mistakes, seed: 20261120 },
      );
      expect(refused).toBe(sizes.mistakes);
    },
  );
});
