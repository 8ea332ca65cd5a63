import type { Job } from "../src/operate/job.ts";

export const verify: Job = {
  id: "verify",
  kind: "verify",
  schedule: "20 2 * * *",
  streams: ["customers", "orders", "staff"],
};
