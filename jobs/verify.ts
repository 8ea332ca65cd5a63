import type { Job } from "../src/operate/job.ts";

export const verify: Job = {
  id: "verify",
  title: "Reads back what the platform shows and compares it with what was sent; writes nothing there",
  kind: "verify",
  schedule: "20 2 * * *",
  streams: ["customers", "orders", "staff"],
};
