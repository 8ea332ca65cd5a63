import { describe, expect, it } from "vitest";
import { customersAndOrders } from "../../jobs/customers-and-orders.ts";
import { bindJobs } from "../../src/operate/job.ts";
import type { BoundJob } from "../../src/operate/job.ts";
import { jobSettingsSchema, limitsSettingsSchema } from "../../src/engine/run/run-settings.ts";

const limits = limitsSettingsSchema.parse({
  removals: {
    enterprise: { floor: 1, share: 0 },
    run: { floor: 2, share: 0 },
    day: { floor: 3, share: 0 },
    week: { floor: 4, share: 0 },
  },
  sourceShrink: 0.01,
  absenceReads: 9,
  absenceTime: "9h",
});

function bound(jobs: Record<string, unknown>, id: string): BoundJob {
  const settings = Object.entries(jobs).map(([name, job]) => [name, jobSettingsSchema.parse(job)]);
  const sources = { erp: { streams: { customers: {}, orders: {}, staff: {} } } };
  const made = bindJobs([customersAndOrders], { zone: "UTC", limits, jobs: Object.fromEntries(settings), sources });
  if (!made.ok) throw new Error(made.error.map((problem) => problem.message).join(" "));
  const found = made.value.find((job) => job.id === id);
  if (found === undefined) throw new Error(`no job ${id}`);
  return found;
}

describe("a job", () => {
  it.each([
    ["of one's own", { mine: { kind: "sync", streams: ["staff"] } }, "mine"],
    [
      "that ships with the program and runs at another time",
      { [customersAndOrders.id]: { schedule: "5 * * * *" } },
      "",
    ],
    ["that ships with the program as it is", {}, ""],
  ])("%s has the limits of the configuration where it says none", (_what, jobs, id) => {
    expect(bound(jobs, id === "" ? customersAndOrders.id : id).limits).toEqual(limits);
  });

  it("has its own limits where it says some, and those of the configuration for the rest", () => {
    const own = { kind: "sync", streams: ["staff"], limits: { absenceReads: 2, removals: { run: { floor: 0 } } } };
    expect(bound({ mine: own }, "mine").limits).toEqual({
      ...limits,
      absenceReads: 2,
      removals: { ...limits.removals, run: { floor: 0, share: limits.removals.run.share } },
    });
  });

  it("has every limit of its own that it says", () => {
    const { newIds, massChange, ...own } = limitsSettingsSchema.parse({
      removals: {
        enterprise: { floor: 3, share: 0.3 },
        run: { floor: 4, share: 0.4 },
        day: { floor: 5, share: 0.5 },
        week: { floor: 6, share: 0.6 },
      },
      sourceShrink: 0.5,
      absenceReads: 6,
      absenceTime: "6h",
    });
    expect(bound({ mine: { kind: "sync", streams: ["staff"], limits: own } }, "mine").limits).toEqual({
      ...own,
      newIds,
      massChange,
    });
  });
});
