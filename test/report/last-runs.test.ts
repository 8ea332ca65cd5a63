import { expect, it } from "vitest";
import { byHand, troubleOf } from "../../src/report/last-runs.ts";

const ended = { id: "run_1", exitCode: null, summary: null };

it("a run that a person started tells its end at once, whatever a job of the configuration is called", () => {
  const kinds = (["sync", "requests", "plan"] as const).map((kind) => {
    const run = { ...ended, job: "lock", kind, state: "interrupted" as const };
    return [byHand(run), troubleOf(run).map((trouble) => trouble.kind)];
  });
  expect(kinds).toEqual([
    [false, ["run-failed"]],
    [true, []],
    [true, []],
  ]);
});
