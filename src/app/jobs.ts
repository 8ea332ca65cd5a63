import { exitCodes, Problem, Problems, usage } from "../base/errors.ts";
import { guardNames, guards } from "../ingest/belief/guards.ts";
import type { Acceptance, GuardName } from "../ingest/belief/guards.ts";
import type { ConfiguredStream } from "../ledger/records/source-reads.ts";
import { bindJobs } from "../operate/job.ts";
import type { BoundJob, JobsConfig } from "../operate/job.ts";
import { sharesSchema } from "../engine/run/run-settings.ts";
import type { Source } from "../source/source.ts";
import { customersAndOrders } from "../../jobs/customers-and-orders.ts";
import { monthlyReport } from "../../jobs/monthly-report.ts";
import { staff } from "../../jobs/staff.ts";
import { verify } from "../../jobs/verify.ts";

/** The jobs that ship with the program and those of the configuration. Throws all that is wrong with them at once. */
export function jobsOf(config: JobsConfig): BoundJob[] {
  const bound = bindJobs([customersAndOrders, staff, verify, monthlyReport], config);
  if (!bound.ok) throw new Problems(bound.error);
  return bound.value;
}

/** One of them; throws a Problem (exit code 64) where there is none of this name. */
export function jobNamed(jobs: readonly BoundJob[], id: string): BoundJob {
  const job = jobs.find((item) => item.id === id);
  if (job !== undefined) return job;
  throw new Problem({
    code: "job.unknown",
    message: `there is no job ${id}`,
    cure: `use one of: ${jobs.map((item) => item.id).join(", ")}`,
    exitCode: exitCodes.usage,
  });
}

/** The shares of the enterprises that go first, as a person wrote them. Throws a Problem (exit code 64). */
export function sharesOf(text: string, { id, kind }: Pick<BoundJob, "id" | "kind">): number[] {
  const shares = sharesSchema.safeParse(text.split(",").map(Number));
  if (!shares.success)
    throw usage(`--canary takes rising shares above 0 and below 100, not ${text}`, "--canary 1,5,25");
  if (kind !== "sync")
    throw usage(`the job ${id} is of kind ${kind}; --canary is for jobs of kind sync`, "leave --canary out");
  return shares.data;
}

/** What a person believes of streams, as `SOURCE/STREAM=NUMBER`, for each guard. Throws a Problem (exit code 64). */
export function acceptancesOf(
  { id, sources, streams }: Pick<BoundJob, "id" | "sources" | "streams">,
  said: Readonly<Record<GuardName, readonly string[]>>,
): Acceptance[] {
  return guardNames.flatMap((guard) =>
    said[guard].map((text): Acceptance => {
      const [, source = "", name, most] = /^(.+)\/([a-z]+)=([1-9]\d{0,8})$/u.exec(text) ?? [];
      const stream = streams.find((one) => one === name);
      if (stream !== undefined && sources.includes(source)) return { guard, source, stream, most: Number(most) };
      throw usage(
        `${guards[guard].option} ${text} names no stream that the job ${id} reads, or no number`,
        `${guards[guard].option} ${sources[0] ?? "crm"}/${streams[0] ?? "orders"}=12, as the run printed it`,
      );
    }),
  );
}

/** Every stream of every source, each with the first job that reads it. */
export function streamsOf(sources: readonly Source[], jobs: readonly BoundJob[]): ConfiguredStream[] {
  const reading = jobs.filter((job) => job.kind === "sync");
  return sources.flatMap((source) =>
    source.streams.map((stream) => ({
      source: source.name,
      stream,
      job: reading.find((job) => job.sources.includes(source.name) && job.streams.includes(stream))?.id,
    })),
  );
}
