import type { Job } from "../src/operate/job.ts";

export const monthlyReport: Job = {
  id: "monthly-report",
  kind: "report",
  schedule: "0 5 1 * *",
  streams: ["customers", "orders", "staff"],
  reports: [
    { kind: "orders", format: "csv", by: "happened" },
    { kind: "entitlements", format: "csv", by: "happened" },
    { kind: "reconciliation", format: "csv", by: "happened" },
    { kind: "exceptions", format: "csv", by: "happened" },
    { kind: "run", format: "csv", by: "happened" },
  ],
};
