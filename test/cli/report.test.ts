import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { expect, it } from "vitest";
import { filesOf } from "../../src/app/statement-files.ts";
import { writeFilesWhole } from "../../src/app/written-files.ts";
import { createOutput } from "../../src/cli/output.ts";
import { reportCommand } from "../../src/cli/commands/report.ts";
import { company } from "../support/world/crm.ts";
import { folder } from "../support/world/start.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

const cells = (text: string): Record<string, string>[] => parse(text, { columns: true });
const thisMonth = new Date().toISOString().slice(0, 7);

async function synchronised(): Promise<World> {
  const w = await world({ records: company(2, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

it(
  "a statement is written with a file for each part and what describes them, all or none",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const out = w.path("runs.csv");
    const ended = await w.run("report", "run", "--period", thisMonth, "--out", out, "--json");
    expect(ended.exitCode, ended.stderr).toBe(0);
    const { files } = JSON.parse(ended.stdout) as { files: string[] };
    expect(files[0]).toBe(out);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) expect(statSync(file).mode & 0o777, file).toBe(0o600);
    expect(cells(readFileSync(out, "utf8"))).toMatchObject([{ job: "everything", exit_code: "0" }]);
    const streams = files.find((file) => file.includes("stream")) ?? "";
    expect(cells(readFileSync(streams, "utf8")).map(({ stream }) => stream)).toEqual(["customers", "orders", "staff"]);

    // One of the files cannot be written: none of them is there, and what was there stays.
    const other = w.path("other.csv");
    writeFileSync(other, "as it was");
    mkdirSync(streams.replace("runs", "other"));
    const refused = await w.run("report", "run", "--period", thisMonth, "--out", other);
    expect([refused.exitCode, refused.stderr]).toEqual([64, expect.stringContaining("a folder is there")]);
    expect(readFileSync(other, "utf8")).toBe("as it was");
    expect(existsSync(`${other}.part`)).toBe(false);

    const one = w.path("one.csv");
    const part = await w.run("report", "run", "--period", thisMonth, "--part", "stream", "--out", one);
    expect(part.exitCode, part.stderr).toBe(0);
    expect(readFileSync(one, "utf8")).toBe(readFileSync(streams, "utf8"));
  },
);

it("stdout gets the first part, or the one that is asked for", { tags: "long" }, async () => {
  const w = await synchronised();
  const runs = await w.run("report", "run", "--period", thisMonth);
  expect(cells(runs.stdout), runs.stderr).toMatchObject([{ job: "everything" }]);
  const reads = await w.run("report", "run", "--period", thisMonth, "--part", "read", "--source", "hr");
  expect(cells(reads.stdout), reads.stderr).toMatchObject([{ source: "hr", stream: "staff" }]);
  for (const period of [`${thisMonth}..${thisMonth}`, thisMonth.slice(0, 4)]) {
    const same = await w.run("report", "run", "--period", period);
    expect(same.stdout).toBe(runs.stdout);
  }
  expect(cells((await w.run("report", "run", "--period", "2020-Q1")).stdout)).toEqual([]);
});

it(
  "says beside the figures that a period is not over, whatever the format and wherever they go",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const ended = await w.run("report", "orders", "--period", thisMonth);
    expect(ended.stderr).toContain(`${thisMonth} is not over: the statement is provisional, figures may still change`);
    expect(ended.stdout).not.toContain("provisional");
    const written = await w.run(
      "report",
      "orders",
      "--period",
      thisMonth,
      "--out",
      w.path("o.parquet"),
      "--format",
      "parquet",
    );
    expect(written.stderr).toContain("is provisional");
    const over = await w.run("report", "orders", "--period", "2020-Q1");
    expect(over.stderr).not.toContain("provisional");
    const next = await w.run("report", "orders", "--period", "2999-01");
    expect(next.stderr).toContain("2999-01 has not begun: there is nothing in it yet");
  },
);

it("--json gives JSON on stdout, and leaves a file the format that it is to have", async () => {
  const w = await synchronised();
  const asked = ["report", "orders", "--period", "2020-01"];
  expect((await w.run(...asked, "--json")).stdout).toBe((await w.run(...asked, "--format", "json")).stdout);
  const file = w.path("o.csv");
  expect((await w.run(...asked, "--json", "--out", file)).exitCode).toBe(0);
  expect(readFileSync(file, "utf8")).toMatch(/^event,date/u);
});

it("as of a moment in the past it is what it was then", { tags: "long" }, async () => {
  const w = await synchronised();
  const then = new Date().toISOString();
  const before = await w.run("report", "activity", "--period", thisMonth);
  w.orders.push({ id: "O7", customer: "C1", assets: ["O7-A1"] });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const now = await w.run("report", "activity", "--period", thisMonth);
  expect(cells(now.stdout)).toHaveLength(2);
  const asOf = await w.run("report", "activity", "--period", thisMonth, "--as-of", then);
  expect(asOf.stdout, asOf.stderr).toBe(before.stdout);
});

it(
  "refuses a moment in the past with times in the configured zone, and names one that can be asked for",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    w.environment["CRM_SYNC__zone"] = "Asia/Kolkata";
    const [began] = w.rows<{ at: string }>("select min(at) as at from audit where sequence = 1");
    const asked = ["report", "run", "--period", thisMonth, "--as-of"];
    const refused = await w.run(...asked, "2020-01-01");
    const { date, time } =
      /^(?<date>.{10})T(?<time>.{8})/u.exec(new Date(Date.parse(began?.at ?? "") + 330 * 60_000).toISOString())
        ?.groups ?? {};
    expect(refused.stderr).toContain(`the ledger began at ${date} ${time} +05:30, after 2020-01-01 23:59:59 +05:30`);
    const first = /ask for a moment from (\S+) on/u.exec(refused.stderr)?.[1] ?? "";
    expect(first).toMatch(/\+05:30$/u);
    expect(Date.parse(first)).toBe(Date.parse(began?.at ?? ""));
    expect((await w.run(...asked, first)).exitCode, "to the millisecond").toBe(0);
    expect((await w.run(...asked, "2020-01-01", "--json")).stdout, "machines get UTC").toContain(`at ${began?.at}`);
    // What a person wrote is said as it was written.
    expect((await w.run(...asked, "2999-01-01T10:00:00Z")).stderr).toContain(
      '"2999-01-01T10:00:00Z" lies in the future',
    );
  },
);

it("names the folder of a file as it was given, also where there is an instant in it", { tags: "long" }, async () => {
  const w = await synchronised();
  w.environment["CRM_SYNC__zone"] = "Europe/Berlin";
  for (const name of ["2026-10-01T00:00:00Z", "of 2026-10-01T00:00:00Z here"]) {
    const folder = w.path(name);
    const refused = await w.run("report", "orders", "--period", thisMonth, "--out", `${folder}/x.csv`);
    expect(refused).toMatchObject({ exitCode: 64, stdout: "" });
    expect.soft(refused.stderr).toContain(`cannot be written to ${folder}/x.csv: there is no folder ${folder}\n`);
    expect.soft(refused.stderr).toContain(`make the folder (\`mkdir -p ${folder}\`)`);
  }
});

const refusals: [words: string[], why: string][] = [
  [["run", "--period", "2026-13"], '"2026-13" is no period'],
  [["run", "--period", "2026-11..2026-10"], "ends before it begins"],
  [["nothing", "--period", "2026-10"], "use one of: activity, "],
  [["run", "--period", "2026-10", "--by", "moon"], "use happened or crm-date"],
  [["activity", "--period", "2026-10", "--by", "crm-date"], "counts by what happened alone"],
  [["run", "--period", "2026-10", "--as-of", "2999-01-01"], "lies in the future"],
  [["run", "--period", "2026-10", "--as-of", "2020-01-01"], "the ledger began at"],
  [["run", "--period", "2026-10", "--as-of", "then"], "is no moment"],
  [["run", "--period", "2026-10", "--source", "crn"], "did you mean crm, hr?"],
  [["run", "--period", "2026-10", "--customer", "C1"], "cannot be limited to a customer"],
  [["activity", "--period", "2026-10", "--customer", "C11"], "did you mean crm/C1, crm/C2?"],
  [["run", "--period", "2026-10", "--part", "lines"], "use one of: run, stream, read"],
  [["run", "--period", "2026-10", "--part", "read", "--format", "json"], "all parts in one file"],
  [["run", "--period", "2026-10", "--format", "pdf"], "use --format csv, json"],
];

it("refuses what it cannot be asked for, and says what can be", { tags: "long" }, async () => {
  const w = await synchronised();
  for (const [words, why] of refusals) {
    const ended = await w.run("report", ...words);
    expect.soft([ended.exitCode, ended.stdout], `${words.join(" ")}: ${ended.stderr}`).toEqual([64, ""]);
    expect.soft(ended.stderr.replaceAll(/\s+/gu, " ")).toContain(why);
  }
});

it("a job drops statements into the folder that it names, for the month before", { tags: "long" }, async () => {
  const w = await world({ records: company(2, 1) });
  w.extra = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  books:
    kind: report
    reports: [{ kind: run, to: shared/finance }, { kind: activity, format: json, to: shared/finance }, { kind: orders }]
`;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const ended = await w.run("run", "books");
  expect(ended.exitCode, ended.stderr).toBe(0);
  const dropped = readdirSync(w.path("shared/finance"));
  expect(dropped.filter((name) => /^(?:run-\d{4}-\d{2}\.csv|activity-\d{4}-\d{2}\.json)$/u.test(name))).toHaveLength(2);
  expect(dropped.filter((name) => name.startsWith("run-")).length).toBeGreaterThanOrEqual(3);
  expect(dropped.filter((name) => name.endsWith(".part"))).toEqual([]);
  expect(readdirSync(w.path("reports")).some((name) => name.startsWith("orders-"))).toBe(true);
});

it("bytes that are no text are not shown on a terminal", async () => {
  const w = await synchronised();
  const said: string[] = [];
  const stream = { write: (text: string | Buffer) => said.push(String(text)) > 0, isTTY: true, columns: 80 };
  const output = createOutput(stream, { ...stream, isTTY: false }, () => 0);
  const { config } = w.place;
  const exit = await reportCommand(
    {
      options: { config, json: false, sandbox: w.sandbox.url },
      environment: w.environment,
      output,
      signal: new AbortController().signal,
      startWeb: () => Promise.reject(new Error("it is not asked for")),
    },
    "run",
    { period: thisMonth, by: "happened", format: "xlsx" },
  );
  expect(exit).toBe(64);
  expect(said.join("")).toMatch(/xlsx is not for a terminal[\s\S]*--out run\.xlsx/u);
});

it("files that belong together appear together, and none does where a later one fails", async () => {
  const inside = folder();
  async function* pieces(fails: boolean) {
    yield { file: "", chunk: "a" };
    yield { file: "", chunk: Buffer.from("b") };
    yield { file: "second", chunk: "c" };
    if (fails) throw new Error("the ledger is gone");
    yield { file: "-metadata.json", chunk: "{}" };
  }
  const options = { pathOf: (file: string) => `${inside}/x${file}`, what: "report", group: undefined };
  await expect(writeFilesWhole(filesOf(pieces(true)), options)).rejects.toThrow("the ledger is gone");
  expect(["x", "x.part", "xsecond", "xsecond.part"].filter((name) => existsSync(`${inside}/${name}`))).toEqual([]);
  expect(await writeFilesWhole(filesOf(pieces(false)), options)).toEqual([
    `${inside}/x`,
    `${inside}/xsecond`,
    `${inside}/x-metadata.json`,
  ]);
  expect(readFileSync(`${inside}/x`, "utf8")).toBe("ab");
});
