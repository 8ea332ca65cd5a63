/** Labels have only closed lists and names of the configuration. `job_name`, because Prometheus uses `job` itself. */
export interface MetricFacts {
  name: string;
  kind: "counter" | "gauge" | "histogram";
  help: string;
  labels: readonly string[];
  buckets?: readonly number[];
  /** `process`: since the process began; `now`: the present state; `ledger`: read from the ledger. */
  from: "process" | "now" | "ledger";
}

const counter = (name: string, help: string, labels: readonly string[] = []): MetricFacts => ({
  name: `crm_sync_${name}`,
  kind: "counter",
  help,
  labels,
  from: "process",
});

const histogram = (name: string, help: string, labels: readonly string[], buckets: readonly number[]): MetricFacts => ({
  ...counter(name, help, labels),
  kind: "histogram",
  buckets,
});

const now = (name: string, help: string, labels: readonly string[] = []): MetricFacts => ({
  ...counter(name, help, labels),
  kind: "gauge",
  from: "now",
});

const ledger = (name: string, help: string, labels: readonly string[] = []): MetricFacts => ({
  ...now(name, help, labels),
  from: "ledger",
});

const callSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const commitSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

/** Every own metric. docs/reference/metrics.md is generated from it. */
export const metricList = {
  calls: counter(
    "calls_total",
    "Calls of the two services that ended, each repetition by itself; outcome not-sent: no permit, and code says why.",
    ["service", "endpoint", "outcome", "code"],
  ),
  callSeconds: histogram(
    "call_duration_seconds",
    "Time from the first byte of a call to its whole answer or its failure.",
    ["service", "endpoint"],
    callSeconds,
  ),
  callsInFlight: now("calls_in_flight", "Calls that hold a permit now.", ["service"]),
  callsWaiting: now("calls_waiting", "Calls that wait for a permit now.", ["service"]),
  circuit: now("circuit_state", "1 for the state that the circuit of a service is in, 0 for the others.", [
    "service",
    "state",
  ]),
  requests: counter(
    "source_requests_total",
    "Requests to the services of sources that ended, each repetition by itself.",
    ["source", "outcome"],
  ),
  requestSeconds: histogram(
    "source_request_duration_seconds",
    "Time that a request to the service of a source took.",
    ["source"],
    callSeconds,
  ),
  operations: counter("operations_total", "Operations that this process brought to a state.", ["kind", "state"]),
  commitSeconds: histogram(
    "ledger_commit_duration_seconds",
    "Time that a commit of the ledger took until it was on the disk.",
    [],
    commitSeconds,
  ),
  ledgerBytes: now("ledger_size_bytes", "Size of the ledger on the disk: the database, and its write-ahead log.", [
    "file",
  ]),
  ledgerReadable: now(
    "ledger_readable",
    "1 where the ledger could be read for this answer; 0: every metric that comes from the ledger is missing in it.",
  ),
  ledgerLookedAt: ledger("ledger_read_timestamp_seconds", "When the figures that come from the ledger were read."),
  info: now("build_info", "1, with the version of the program.", ["version"]),
  jobLastExit: ledger(
    "job_last_exit_code",
    "Exit code of the last run of the job that is not on any more; 1: also of one that was interrupted.",
    ["job_name"],
  ),
  jobLastSuccess: ledger("job_last_success_timestamp_seconds", "When a run of the job ended last with exit code 0.", [
    "job_name",
  ]),
  jobLastEnd: ledger(
    "job_last_completion_timestamp_seconds",
    "When a run of the job did last all that it could: exit code 0, 3 or 4 with every source and service reached.",
    ["job_name"],
  ),
  jobNextFire: ledger("job_next_fire_timestamp_seconds", "When the schedule fires the job next.", ["job_name"]),
  jobFireInterval: ledger("job_fire_interval_seconds", "Time between the next two fire times of the job.", [
    "job_name",
  ]),
  recordsOpen: ledger("records_open", "Records that are not done, as status counts them, by how they stand and why.", [
    "stream",
    "standing",
    "code",
  ]),
  recordsOldest: ledger("records_open_oldest_age_seconds", "Age of the oldest of them.", [
    "stream",
    "standing",
    "code",
  ]),
  settleBacklog: ledger("settle_backlog", "Operations whose outcome is not known: sending, unknown or parked."),
  settleOldest: ledger("settle_backlog_oldest_age_seconds", "Age of the oldest of them; 0 if there is none of them."),
  holds: ledger("holds", "Holds that stand: open ones wait for a person, approved ones for a run.", ["state"]),
  holdsOldest: ledger("holds_oldest_age_seconds", "Age of the oldest of them.", ["state"]),
  held: ledger("held_things", "Their removals, by kind; accounts are those of people.", ["thing"]),
  sourceComplete: ledger("source_read_complete", "1 where the last reading of the stream was complete.", [
    "source",
    "stream",
  ]),
  sourceRows: ledger("source_read_rows", "Rows of the last reading of the stream.", ["source", "stream"]),
  sourceRead: ledger("source_read_timestamp_seconds", "When the last reading of the stream ended.", [
    "source",
    "stream",
  ]),
  differences: ledger("differences", "What readings back show otherwise than it was left.", ["class"]),
  alerts: ledger("alerts", "Open issues that people got an alert for, by kind.", ["kind"]),
  paused: ledger("paused", "1 while a person has it that nothing is written to the services, else 0."),
  deliveriesFailing: ledger("deliveries_failing", "Ways of alerts, and dead man's switches, that fail now.", ["kind"]),
} as const satisfies Record<string, MetricFacts>;

export type MetricName = keyof typeof metricList;

export const processMetrics: readonly string[] = [
  "process_cpu_seconds_total",
  "process_cpu_user_seconds_total",
  "process_cpu_system_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_virtual_memory_bytes",
  "process_heap_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_seconds",
  "nodejs_eventloop_lag_p50_seconds",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_heap_size_used_bytes",
  "nodejs_external_memory_bytes",
  "nodejs_gc_duration_seconds",
];
