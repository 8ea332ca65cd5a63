import { customersAndOrders } from "../../jobs/customers-and-orders.ts";
import { monthlyReport } from "../../jobs/monthly-report.ts";
import { staff } from "../../jobs/staff.ts";
import { verify } from "../../jobs/verify.ts";
import { Problems } from "../base/errors.ts";
import { bindJobs } from "../operate/job.ts";
import type { BoundJob, JobsConfig } from "../operate/job.ts";

/** The jobs that ship with the program and those of the configuration. Throws all that is wrong with them at once. */
export function jobsOf(config: JobsConfig): BoundJob[] {
  const bound = bindJobs([customersAndOrders, staff, verify, monthlyReport], config);
  if (!bound.ok) throw new Problems(bound.error);
  return bound.value;
}
