import type { Job } from "../src/operate/job.ts";

export const staff: Job = {
  id: "staff",
  title: "Brings staff of the CRM and the licences they should hold to the platform",
  kind: "sync",
  schedule: "5,35 * * * *",
  streams: ["staff"],
};
