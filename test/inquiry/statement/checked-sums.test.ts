import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/base/errors.ts";
import { requireBalanced } from "../../../src/report/statement/cells.ts";
import { runRow, streamRow, type RunBalance } from "../../../src/inquiry/statement/run.ts";

describe("the balance of a run", () => {
  const operations: NonNullable<RunBalance["operations"]> = {
    planned: 5,
    carriedIn: 2,
    done: 2,
    rejected: 1,
    unknown: 1,
    held: 2,
    notAttempted: 1,
    adds: true,
  };
  const stream: RunBalance["streams"][number] = {
    stream: "orders",
    extracted: 6,
    takenUpAgain: 1,
    unchanged: 2,
    workedOn: 1,
    quarantined: 1,
    deferred: 1,
    rejected: 1,
    skipped: 1,
    adds: true,
  };
  const run: RunBalance = {
    run: "run_1",
    at: "2026-10-01T10:00:00.000Z",
    ended: "2026-10-01T10:00:01.000Z",
    job: "everything",
    kind: "sync",
    trigger: "hand",
    scope: null,
    state: "done",
    exitCode: 0,
    streams: [stream],
    operations,
    sources: ["erp"],
    auditSequence: 1,
  };
  const balances = (fields: Partial<RunBalance>): unknown => runRow({ ...run, ...fields }).row["balances"];

  it("is added up anew, whatever the run said of itself", () => {
    expect(balances({})).toBe(true);
    for (const name of ["planned", "carriedIn", "done", "rejected", "unknown", "held", "notAttempted"] as const)
      expect(balances({ operations: { ...operations, [name]: operations[name] + 1 } }), name).toBe(false);
    expect(balances({ operations: { ...operations, adds: false } }), "the run says so").toBe(false);
    const other = { ...stream, skipped: 2 };
    expect(balances({ streams: [stream, other] })).toBe(false);
    expect([stream, other].map((sums) => streamRow(run, sums).row["balances"])).toEqual([true, false]);
  });

  it("is none of a run that kept none", () => {
    expect(balances({ operations: null, streams: [] })).toBeNull();
  });
});

describe("a summary", () => {
  it("that the rows do not make is refused, as a run that does not balance is", () => {
    const summary = [{ verdict: "matched", currency: "EUR", count: 2, crm_amount: 594 }];
    expect(() => requireBalanced("reconciliation", summary, structuredClone(summary))).not.toThrow();
    for (const rows of [[], [{ ...summary[0], crm_amount: 593 }], [...summary, ...summary]]) {
      const refused = (): void => requireBalanced("reconciliation", summary, rows);
      expect(refused).toThrow(Problem);
      expect(refused).toThrow(expect.objectContaining({ code: "statement.unbalanced", exitCode: 6 }));
    }
  });
});
