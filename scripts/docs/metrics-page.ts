import { metricList, processMetrics, type MetricFacts } from "../../src/web/metric-list.ts";
import { code, page, table } from "./markdown.ts";

const parts: readonly (readonly [MetricFacts["from"], string, string])[] = [
  [
    "process",
    "What this process did",
    "They begin at 0 with each start of `serve`; `rate()` and `increase()` see that.",
  ],
  ["now", "How it is now", "Read when somebody asks."],
  [
    "ledger",
    "What the ledger says",
    "The same figures that `crm-sync status` shows, of whatever process did it. Where the ledger cannot be read they " +
      "are missing, all of them: an old figure would say that all is well.",
  ],
];

/** What each label may say. */
const words: readonly (readonly [string, string])[] = [
  ["`service`", "`order-service`, `member-center`"],
  ["`endpoint`", "`E1` to `E9`, `M1` to `M10`"],
  [
    "`outcome` of a call",
    "`done`, `partial`, `refused` (about what was sent), `failed` (a code by which the service failed, or an " +
      "unlisted one), `token`, `limited` (HTTP 429), `odd` (not the contract's form), `no-answer`, `unreached` " +
      "(not one byte left), `stopped`, `not-sent`",
  ],
  [
    "`code` of a call",
    "a code that the contract lists for the endpoint, `0`, `other`, `none`; of what was not sent " +
      "`circuit-open`, `no-turn`, `token`, `aborted`",
  ],
  ["`outcome` of a request to a source", "`answered`, `failed` (asked again), `refused`, `no-answer`"],
  ["`standing`", "`deferred`, `rejected`, `quarantined`"],
  [
    "`code` of records",
    "as `crm-sync status` names it; `rejected.CODE` with a code of the contract; `FAMILY.other`; `other`",
  ],
  ["`exit_code`", "exit codes of a run; `none` of one that was interrupted"],
  ["`job_name` of runs", "a configured job; `resync`, `apply`, `plan`, `undo`, `rebuild`, `requests`; `other`"],
];

/** Every metric that `/metrics` exposes. */
export function metricsPage(): string {
  const listed: readonly MetricFacts[] = Object.values(metricList);
  return page([
    "# Metrics",
    "`crm-sync serve` answers `/metrics` on the address of `serve` (127.0.0.1:8787) for Prometheus, with a token or to " +
      "an address that `serve.metrics` names. [Monitor it](../how-to/monitor.md) says how to scrape it.",
    [
      "- **Labels** are words of closed lists and names of the configuration: no id, no name of a customer, no text of",
      "  a source or a service. A code that the contracts do not list is `other`. A job is `job_name`, because",
      "  Prometheus calls the scrape `job`.",
      "- **A scrape is cheap**: it reads tallies and open work by index, never finished work. Reading the ledger takes",
      "  at most a twentieth of the time; `crm_sync_ledger_read_timestamp_seconds` says how old its figures are.",
      "- **A failure** is in the answer (`crm_sync_ledger_readable`, or HTTP 503), and the program continues.",
    ].join("\n"),
    ...parts.flatMap(([from, title, what]) => [
      `## ${title}`,
      what,
      table(
        ["metric", "kind", "labels", "what"],
        listed
          .filter((metric) => metric.from === from)
          .map(({ name, kind, labels, help }) => [
            code(name),
            kind,
            labels.map((label) => code(label)).join(", "),
            help,
          ]),
      ),
    ]),
    "## The process",
    `By the names that all programs give them: ${processMetrics.map((name) => code(name)).join(", ")}.`,
    "## Words",
    table(["label", "values"], words),
  ]);
}
