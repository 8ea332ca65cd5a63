import type { Job } from "../src/operate/job.ts";

export const customersAndOrders: Job = {
  id: "customers-and-orders",
  kind: "sync",
  schedule: "*/15 * * * *",
  streams: ["customers", "orders"],
};
