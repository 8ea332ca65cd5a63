import type { Job } from "../src/operate/job.ts";

export const customersAndOrders: Job = {
  id: "customers-and-orders",
  title: "Brings customers and orders of the CRM to the platform",
  kind: "sync",
  schedule: "*/15 * * * *",
  streams: ["customers", "orders"],
};
