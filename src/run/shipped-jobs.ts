import type { Job, JobReport } from "./job.ts";

function csv(kind: JobReport["kind"]): JobReport {
  return { kind, format: "csv", by: "happened" };
}

/** The jobs that every configuration has. */
export const shippedJobs: readonly Job[] = [
  {
    id: "customers-and-orders",
    title: "Brings customers and orders of the CRM to the platform",
    kind: "sync",
    schedule: "*/15 * * * *",
    streams: ["customers", "orders"],
    misfire: "run-once",
  },
  {
    id: "staff",
    title: "Brings staff of the CRM and the licences they should hold to the platform",
    kind: "sync",
    schedule: "5,35 * * * *",
    streams: ["staff"],
    misfire: "run-once",
  },
  {
    id: "verify",
    title: "Reads back what the platform shows and compares it with what was sent; writes nothing there",
    kind: "verify",
    schedule: "20 2 * * *",
    streams: ["customers", "orders", "staff"],
    misfire: "run-once",
  },
  {
    id: "monthly-report",
    title: "Writes the reports of the month that has ended",
    kind: "report",
    schedule: "0 5 1 * *",
    streams: ["customers", "orders", "staff"],
    misfire: "run-once",
    reports: [
      csv("orders"),
      csv("entitlements"),
      csv("reconciliation"),
      csv("corrections"),
      csv("exceptions"),
      csv("run"),
    ],
  },
];
