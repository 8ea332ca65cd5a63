import type { Job } from "../src/operate/job.ts";

export const staff: Job = {
  id: "staff",
  kind: "sync",
  schedule: "5,35 * * * *",
  streams: ["staff"],
};
