import { expect, it } from "vitest";
import { nextForOperation } from "../../src/report/waiting.ts";
import { nextForDeferral } from "../../src/report/next-steps.ts";

it("what is asked for by hand is left to the next run, or taken back where it was refused", () => {
  for (const code of ["request.open", "request.failed", "request.changed"])
    expect(nextForDeferral(code), code).toBe("nothing: the next run checks again");
  expect(nextForDeferral("request.refused")).toMatch(/^withdraw the request: .* with --withdraw\./u);
});

it("an unknown outcome ends by a reading, by being sent again, or not at all", () => {
  const customer = { namespace: "crm", id: "C1" };
  const operation = { id: "op_1", endpoint: "E5", outcomeCode: null };
  const row = { ...operation, state: "unknown" as const, questionId: null, settleAfter: null, customer };
  const next = (["read", "send-again", "lost"] as const).map((whenUnknown) =>
    nextForOperation({ ...row, whenUnknown }),
  );
  expect(next).toEqual([
    "nothing: the next run settles it by reading the platform",
    "nothing: the next run sends it again with the same values",
    "nothing: the next run records that its effect is lost",
  ]);
});

it("no step of an asset that continues another one tells anybody to remove an asset from the CRM", () => {
  for (const code of ["ended", "not-shown", "other-type", "unknown"]) {
    const next = nextForDeferral(`order.earlier-${code}`);
    expect(next).toMatch(/clear the field in the CRM that says which asset this one continues/u);
    expect(next).not.toMatch(/remove/u);
  }
});
