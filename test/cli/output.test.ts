import { expect, it, onTestFinished } from "vitest";
import { exitCodes, Problem } from "../../src/base/errors.ts";
import { createOutput, describeProblem, reportFailure, ProgressLine } from "../../src/cli/output.ts";
import { document, documents, world } from "../support/cli.ts";
import { crmSync } from "../support/program.ts";
import { canary, company, staffRow } from "../support/world/crm.ts";

function written() {
  const texts = { stdout: "", stderr: "" };
  const sink = (name: keyof typeof texts) => ({
    write: (text: string | Buffer): boolean => {
      texts[name] += String(text);
      return true;
    },
  });
  return { texts, output: createOutput(sink("stdout"), sink("stderr"), () => 0) };
}

it("a result for machines is one document, printed when the command ends; a failure after it takes its place", () => {
  const good = written();
  good.output.result({ run: "run_1" });
  expect(good.texts.stdout).toBe("");
  good.output.end();
  good.output.end();
  expect(JSON.parse(good.texts.stdout)).toEqual({ run: "run_1" });

  const bad = written();
  bad.output.result({ run: "run_1" });
  const problem = new Problem({
    code: "ledger.cannot-write",
    message: "the disk is full",
    cure: "make room",
    exitCode: exitCodes.ledgerRefused,
  });
  expect(reportFailure(bad.output, problem, true)).toBe(exitCodes.ledgerRefused);
  bad.output.end();
  expect(JSON.parse(bad.texts.stdout)).toMatchObject({ error: { code: "ledger.cannot-write", exit: 65 } });
  expect(bad.texts.stderr).toContain("make room");
});

it("a terminal shows how far work is and since when, each second; a pipe shows nothing", () => {
  const stderr: string[] = [];
  let now = 0;
  const terminal = { write: (text: string | Buffer) => stderr.push(String(text)) > 0, isTTY: true, columns: 100 };
  const line = new ProgressLine(terminal, () => now);
  const drawn = (): string => stderr.at(-1)?.replace("\r\u001B[2K", "") ?? "";
  line.begin();
  onTestFinished(() => line.end());
  now = 2_000;
  line.tick();
  expect(drawn()).toBe("working (2s)");
  line.told("customers", 0, 1_200);
  now = 12_000;
  line.told("customers", 200, 1_200);
  expect(drawn()).toBe("customers: 200 of 1,200 (10s)");
  const count = stderr.length;
  now = 12_500;
  line.tick();
  expect(stderr).toHaveLength(count);
  now = 13_500;
  line.tick();
  expect(drawn()).toBe("customers: 200 of 1,200 (11s)");
  line.rest();
  expect(drawn()).toBe("");
  now = 20_000;
  line.tick();
  expect(drawn(), "after a result nothing is drawn").toBe("");
  const piped: string[] = [];
  const pipe = new ProgressLine({ write: (text: string | Buffer) => piped.push(String(text)) > 0 }, () => now);
  pipe.begin();
  pipe.told("customers", 1, 2);
  expect(piped).toEqual([]);
});

it("a place is said as it is, wherever it stands, and times beside it in the zone", () => {
  const at = "2026-10-01T00:00:00Z";
  const said = (place: string, message: string): string =>
    describeProblem(new Problem({ code: "x", message, cure: `ask from ${at} on`, place }), "Europe/Berlin");
  const cure = "\n  → ask from 2026-10-01T02:00:00+02:00 on";
  expect(said(at, "is no folder")).toContain(`${at}: is no folder\n`);
  expect(said(`of ${at}`, `the folder of ${at} is missing`)).toBe(`the folder of ${at} is missing${cure}`);
  expect(said(`of ${at}`, `it was gone at ${at}`)).toBe(`of ${at}: it was gone at 2026-10-01 02:00:00 +02:00${cure}`);
});

it("every command that is asked for it gives JSON and nothing else on stdout", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  const [person] = w.staff;
  if (person === undefined) throw new Error("there is nobody");
  const login = `${canary.login}y`;
  w.staff.push({ ...staffRow(person), id: "S1-2", login, name: "x".repeat(31) });
  w.write();
  const commands: [string, number][] = [
    ["plan", 3],
    ["run everything", 3],
    ["resync --customer C1", 3],
    ["apply", 3],
    ["run verify", 3],
    ["check", 3],
    ["status", 0],
    ["runs", 0],
    ["run show last", 0],
    ["explain customer C1", 0],
    ["explain order O1", 0],
    ["explain staff S1-2", 0],
    ["explain order nowhere", 64],
    ["quarantine list", 0],
    ["quarantine retry all", 3],
    ["quarantine show q-nowhere", 64],
    ["settle list", 0],
    ["report orders --period 2026-10 --format json", 0],
    ["report reconciliation --period 2026-10 --format json", 0],
    ["report exceptions --period 2026-10 --format json", 0],
    ["audit verify", 0],
    ["audit head", 0],
    ["audit export", 0],
    ["accept-platform", 0],
    ["run nothing", 64],
  ];
  for (const [words, code] of commands) {
    const ended = await w.run("--json", ...words.split(" "));
    expect.soft(ended.exitCode, `${words}: ${ended.stdout}${ended.stderr}`).toBe(code);
    expect.soft(documents(ended).length, words).toBeGreaterThan(0);
  }
  const [row] = await w.ask("quarantine", "list");
  expect(await w.ask("quarantine", "show", row.id)).toMatchObject({ id: row.id, field: "name" });
  const raw = await crmSync({ ...w.place, clock: w.clock }, "--json", "quarantine", "show", row.id, "--raw");
  expect(document(raw).raw, "whoever asks for the raw form is shown it").toContain(login);
});
