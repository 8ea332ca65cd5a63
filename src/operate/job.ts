import { parseCron, type Cron } from "../base/cron.ts";
import { exitCodes, failed, ok, Problem, usage, type Result } from "../base/errors.ts";
import { streams as allStreams, type Stream } from "../crm/model.ts";
import { sharesSchema, type JobSettings, type VerifyBudget } from "../engine/run/run-settings.ts";
import { guardNames, guards, type Acceptance, type GuardName } from "../ingest/belief/guards.ts";
import type { ConfiguredStream } from "../ledger/records/source-reads.ts";
import type { statementKinds, PeriodBy } from "../report/statement/shape.ts";
import type { StatementFormat } from "../report/statement/render.ts";
import type { Source } from "../source/source.ts";

type JobKind = "sync" | "verify" | "report" | "backup";

interface JobReport {
  kind: (typeof statementKinds)[number];
  format: StatementFormat;
  by: PeriodBy;
  /** Default: `reports` beside the ledger. */
  to?: string | undefined;
}

export interface Job {
  id: string;
  kind: JobKind;
  /** Cron `minute hour day-of-month month weekday`. Null: a person starts the job. */
  schedule: string | null;
  streams: readonly Stream[];
  reports?: readonly JobReport[];
  budget?: VerifyBudget;
}

export interface BoundJob {
  id: string;
  kind: JobKind;
  /** Undefined: a person starts the job. */
  schedule: { cron: Cron; zone: string } | undefined;
  streams: readonly Stream[];
  sources: readonly string[];
  reports: readonly JobReport[];
  budget?: VerifyBudget | undefined;
  /** Shares of enterprises that go first, in per cent. */
  canary?: readonly number[] | undefined;
  /** Only for kind backup. `keep`: how many backups stay there. */
  backup?: { to: string; keep: number | undefined } | undefined;
}

interface JobsConfig {
  zone: string;
  jobs: Readonly<Record<string, JobSettings>>;
  sources: Readonly<Record<string, { streams: Readonly<Partial<Record<Stream, unknown>>> }>>;
}

/** By default a job reads every source that has one of its streams. */
export function bindJobs(shipped: readonly Job[], config: JobsConfig): Result<BoundJob[], Problem[]> {
  const problems: Problem[] = [];
  const bound: BoundJob[] = [];
  const own = Object.keys(config.jobs).filter((id) => !shipped.some((job) => job.id === id));
  for (const job of [...shipped, ...own.map((id) => ownJob(id, config.jobs[id]))]) {
    const made = job instanceof Problem ? failed([job]) : bind(job, config.jobs[job.id], config);
    if (made.ok) bound.push(made.value);
    else problems.push(...made.error);
  }
  return problems.length > 0 ? failed(problems) : ok(bound);
}

function ownJob(id: string, settings: JobSettings | undefined): Job | Problem {
  if (settings?.kind === undefined) {
    return mistake(
      id,
      "kind",
      "is missing, and crm-sync has no job of this name itself",
      "Add `kind: sync`, or correct the name.",
    );
  }
  return {
    id,
    kind: settings.kind,
    schedule: settings.schedule ?? null,
    streams: settings.streams ?? allStreams,
  };
}

const kindOfSetting = { budget: "verify", canary: "sync", to: "backup", keep: "backup" } as const;
type KeyOfKind = keyof typeof kindOfSetting;

function bind(job: Job, settings: JobSettings | undefined, config: JobsConfig): Result<BoundJob, Problem[]> {
  const kind = settings?.kind ?? job.kind;
  const streams = settings?.streams ?? job.streams;
  const having = Object.keys(config.sources).filter((name) =>
    streams.some((stream) => config.sources[name]?.streams[stream] !== undefined),
  );
  const reports = settings?.reports ?? job.reports ?? [];
  const budget = settings?.budget ?? job.budget;
  const { to, keep, canary } = settings ?? {};
  const text = settings?.schedule === undefined ? job.schedule : settings.schedule;
  const schedule = text === null ? undefined : parseCron(text);
  const told = (key: string, what: string, cure: string): Problem => mistake(job.id, key, what, cure);
  const problems = [
    ...sourceFaults(job.id, settings?.sources ?? [], { streams, having, known: Object.keys(config.sources) }),
    ...foreignFaults(job.id, kind, { budget, canary, to, keep }),
  ];
  if (kind !== job.kind) {
    const what = `cannot change a job of crm-sync itself from ${job.kind} to ${kind}`;
    problems.unshift(told("kind", what, "Remove the key, or give the job another name."));
  }
  if (kind === "report" && reports.length === 0) {
    const cure = "Say which reports the job writes, such as `reports: [{kind: orders}]`.";
    problems.push(told("reports", "is missing", cure));
  }
  if (kind === "backup" && to === undefined)
    problems.push(told("to", "is missing", "Name the folder that backups are written into."));
  if (schedule?.ok === false)
    problems.push(told("schedule", `is not a schedule; expected ${schedule.error}`, "Correct the schedule."));
  if (problems.length > 0) return failed(problems);
  return ok({
    id: job.id,
    kind,
    schedule: schedule?.ok === true ? { cron: schedule.value, zone: config.zone } : undefined,
    streams,
    sources: settings?.sources ?? having,
    reports,
    budget,
    canary,
    backup: to === undefined ? undefined : { to, keep },
  });
}

function sourceFaults(
  job: string,
  named: readonly string[],
  { streams, having, known }: { streams: readonly Stream[]; having: readonly string[]; known: readonly string[] },
): Problem[] {
  return named.flatMap((name) => {
    if (!known.includes(name)) {
      const cure = `Use one of: ${known.join(", ") || "(none is configured)"}.`;
      return [mistake(job, "sources", `names ${name}, but there is no such source`, cure)];
    }
    if (having.includes(name)) return [];
    const what = `names ${name}, but this source has no ${streams.join(", no ")}`;
    return [mistake(job, "sources", what, "Remove the source here, or change `streams`.")];
  });
}

function foreignFaults(job: string, kind: JobKind, given: Readonly<Record<KeyOfKind, unknown>>): Problem[] {
  return Object.entries(kindOfSetting).flatMap(([key, own]) => {
    const [, value] = Object.entries(given).find(([name]) => name === key) ?? [];
    if (own === kind || value === undefined) return [];
    const cure = `Remove the key, or move it to a job of kind ${own}.`;
    return [mistake(job, key, `has no effect in a job of kind ${kind}`, cure)];
  });
}

function mistake(job: string, key: string, what: string, cure: string): Problem {
  return new Problem({
    code: "config.job",
    message: `\`jobs.${job}.${key}\` ${what}.`,
    cure,
    place: `jobs.${job}`,
    exitCode: exitCodes.configuration,
  });
}

/** Throws a Problem (exit code 64) for an unknown job. */
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

export function sharesOf(text: string, { id, kind }: Pick<BoundJob, "id" | "kind">): number[] {
  const shares = sharesSchema.safeParse(text.split(",").map(Number));
  if (!shares.success)
    throw usage(`--canary takes rising shares above 0 and below 100, not ${text}`, "--canary 1,5,25");
  if (kind !== "sync")
    throw usage(`the job ${id} is of kind ${kind}; --canary is for jobs of kind sync`, "leave --canary out");
  return shares.data;
}

/** Parses `SOURCE/STREAM=NUMBER` of each guard's option. Throws a Problem (exit code 64). */
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

/** Every stream of every source, with the first job that reads it. */
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
