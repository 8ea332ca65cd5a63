import { expect, it } from "vitest";
import { exitCodes, Problem } from "../../src/base/errors.ts";
import { createOutput, describeProblem, reportFailure } from "../../src/cli/output.ts";

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

it("a place is said as it is, wherever it stands, and times beside it in the zone", () => {
  const at = "2026-10-01T00:00:00Z";
  const said = (place: string, message: string): string =>
    describeProblem(new Problem({ code: "x", message, cure: `ask from ${at} on`, place }), "Europe/Berlin");
  const cure = "\n  → ask from 2026-10-01T02:00:00+02:00 on";
  expect(said(at, "is no folder")).toContain(`${at}: is no folder\n`);
  expect(said(`of ${at}`, `the folder of ${at} is missing`)).toBe(`the folder of ${at} is missing${cure}`);
  expect(said(`of ${at}`, `it was gone at ${at}`)).toBe(`of ${at}: it was gone at 2026-10-01 02:00:00 +02:00${cure}`);
});
