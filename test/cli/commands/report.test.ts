import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { expect, it } from "vitest";
import { toInstant } from "../../../src/base/clock.ts";
import { company } from "../../support/world/crm.ts";
import { world, type World } from "../../support/cli.ts";

const cells = (text: string): Record<string, string>[] => parse(text, { columns: true });
const november = ["--period", "2026-11"];

async function synchronised(): Promise<World> {
  const w = await world({ records: company(2, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

it("prints the first part of a statement, or the one that is asked for, for any way to name the period", async () => {
  const w = await synchronised();
  const runs = await w.run("report", "run", ...november);
  expect(cells(runs.stdout)).toMatchObject([{ job: "everything", exit_code: "0" }]);
  const reads = await w.run("report", "run", ...november, "--part", "read", "--source", "hr");
  expect(cells(reads.stdout)).toMatchObject([{ source: "hr", stream: "staff" }]);
  for (const period of ["2026-11..2026-11", "2026"])
    expect((await w.run("report", "run", "--period", period)).stdout).toBe(runs.stdout);
  const before = ["report", "orders", "--period", "2026-01"];
  expect((await w.run(...before, "--json")).stdout).toBe((await w.run(...before, "--format", "json")).stdout);
});

it(
  "writes a file for each part and what describes them, for its owner alone, all or none",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const out = w.path("runs.csv");
    const { files }: { files: string[] } = await w.ask("report", "run", ...november, "--out", out);
    expect(files[0]).toBe(out);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) expect(statSync(file).mode & 0o777, file).toBe(0o600);
    expect(cells(readFileSync(out, "utf8"))).toMatchObject([{ job: "everything" }]);
    const streams = files.find((file) => file.includes("stream")) ?? "";
    expect(cells(readFileSync(streams, "utf8")).map(({ stream }) => stream)).toEqual(["customers", "orders", "staff"]);
    const one = w.path("one.csv");
    await w.run("report", "run", ...november, "--part", "stream", "--out", one);
    expect(readFileSync(one, "utf8")).toBe(readFileSync(streams, "utf8"));

    const other = w.path("other.csv");
    writeFileSync(other, "as it was");
    mkdirSync(streams.replace("runs", "other"));
    expect((await w.run("report", "run", ...november, "--out", other)).exitCode).toBe(64);
    expect(readFileSync(other, "utf8")).toBe("as it was");
    expect(existsSync(`${other}.part`)).toBe(false);
  },
);

it("says beside the figures of a period that is not over that they may change", { tags: "long" }, async () => {
  const w = await synchronised();
  const said = async (...words: string[]): Promise<string> => (await w.run("report", "orders", ...words)).stderr;
  expect(await said(...november)).toContain("2026-11");
  expect(await said(...november, "--out", w.path("o.csv"))).toContain("2026-11");
  expect(await said("--period", "2999-01")).toContain("2999-01");
  expect(await said("--period", "2020-Q1")).toBe("");
});

it("is as of a moment in the past what it was then, from the first moment of the ledger on", async () => {
  const w = await synchronised();
  const orders = async (...words: string[]) => await w.run("report", "orders", ...november, ...words);
  const before = (await orders()).stdout;
  const then = toInstant(w.clock.now());
  w.orders.push({ id: "O7", customer: "C1", assets: ["O7-A1"] });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(cells((await orders()).stdout)).toHaveLength(cells(before).length + 1);
  expect((await orders("--as-of", then)).stdout).toBe(before);
  w.environment["CRM_SYNC__zone"] = "Asia/Kolkata";
  const tooEarly = await orders("--as-of", "2020-01-01");
  const [first = ""] = /\d{4}-\S+T\S+\+05:30/u.exec(tooEarly.stderr) ?? [];
  expect(tooEarly.exitCode).toBe(64);
  expect((await orders("--as-of", first)).exitCode).toBe(0);
  expect((await orders("--as-of", toInstant(Date.parse(first) - 1))).exitCode).toBe(64);
});

it("refuses what it cannot be asked for, and suggests what can be", { tags: "long" }, async () => {
  const w = await synchronised();
  const refusals = [
    "run --period 2026-13",
    "run --period 2026-11..2026-10",
    "nothing --period 2026-10",
    "run --period 2026-10 --by moon",
    "run --period 2026-10 --date crm-date",
    "run --period 2026-10 --as-of 2999-01-01",
    "run --period 2026-10 --as-of then",
    "run --period 2026-10 --source crn",
    "run --period 2026-10 --customer C1",
    "orders --period 2026-10 --customer C11",
    "run --period 2026-10 --part lines",
    "run --period 2026-10 --part read --format json",
    "run --period 2026-10 --format pdf",
  ];
  for (const words of refusals) {
    const { exitCode, stdout } = await w.run("report", ...words.split(" "));
    expect.soft([exitCode, stdout], words).toEqual([64, ""]);
  }
  const said = (await w.run("report", "orders", "--period", "2026-10", "--customer", "C11")).stderr;
  for (const id of ["crm/C1", "crm/C2"]) expect(said).toContain(id);
  const workbook = await w.run(
    "report",
    "orders",
    "--period",
    "2026-10",
    "--format",
    "xlsx",
    "--out",
    w.path("o.xlsx"),
  );
  expect(workbook.exitCode).toBe(64);
  expect(workbook.stderr).toContain("use --format csv, json, html");
  expect(existsSync(w.path("o.xlsx"))).toBe(false);
});

it("is written by a job into the folder that it names, for the month before", { tags: "long" }, async () => {
  const w = await world({ records: company(2, 1) });
  w.extra = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  books:
    kind: report
    reports: [{ kind: run, to: shared/finance }, { kind: entitlements, format: json, to: shared/finance }, { kind: orders }]
`;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "books")).exitCode).toBe(0);
  const written = readdirSync(w.path("shared/finance"));
  expect(written).toEqual(expect.arrayContaining(["run-2026-10.csv", "entitlements-2026-10.json"]));
  expect(written.filter((name) => name.endsWith(".part"))).toEqual([]);
  expect(readdirSync(w.path("reports"))).toContain("orders-2026-10.csv");
});
