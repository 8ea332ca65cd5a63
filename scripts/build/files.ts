/** Modules of the program and packages that belong together, as the start of their path or their whole path. */
type Members = readonly string[];

/** What every command line loads: the command line itself and its words. */
const start: Members = [
  "src/cli/",
  "src/app/reason.ts",
  "src/base/",
  "src/crm/keys.ts",
  "src/crm/personal-data.ts",
  "@commander-js/extra-typings",
  "commander",
];

/** What only some of them do, though it stands in those rooms. */
const later: Members = [
  "src/base/duration.ts",
  "src/base/growing-map.ts",
  "src/base/logger.ts",
  "src/base/loopback.ts",
  "src/cli/decisions-file.ts",
  "src/cli/plan-text.ts",
  "src/cli/run-summary.ts",
  "src/cli/stdout.ts",
  "src/cli/terminal-log.ts",
];

/** What a configuration is read and checked with. */
const config: Members = [
  "src/config/",
  "src/app/application.ts",
  "src/app/ledger-folder.ts",
  "src/app/open-config.ts",
  "src/base/duration.ts",
  "src/base/loopback.ts",
  "src/contract/assumption",
  "src/contract/limits.ts",
  "src/contract/template.ts",
  "src/contract/term.ts",
  "src/contract/time-codec.ts",
  "src/contract/vocabulary.ts",
  "src/crm/currency.ts",
  "src/crm/fields.ts",
  "src/crm/license-types.ts",
  "src/crm/model.ts",
  "src/crm/stable-order.ts",
  "src/http/http-settings.ts",
  "src/http/secrets.ts",
  "src/platform/service-settings.ts",
  "src/run/cron.ts",
  "src/run/notify-settings.ts",
  "src/run/notify/alert.ts",
  "src/run/run-settings.ts",
  "src/run/webhook-settings.ts",
  "src/source/file/file-source-settings.ts",
  "src/source/group-settings.ts",
  "src/source/http/answer/answer-settings.ts",
  "src/source/http/auth-settings.ts",
  "src/source/http/chain-settings.ts",
  "src/source/http/http-source-settings.ts",
  "src/source/http/http-table-settings.ts",
  "src/source/http/job-settings.ts",
  "src/source/http/list-checks.ts",
  "src/source/http/paging-settings.ts",
  "src/source/http/placement.ts",
  "src/source/http/plain.ts",
  "src/source/http/request-settings.ts",
  "src/source/http/stream-checks.ts",
  "src/source/limits.ts",
  "src/source/mapping/",
  "src/source/problems.ts",
  "src/source/source-settings.ts",
  "src/source/sql/dialect-name.ts",
  "src/source/sql/sql-source-settings.ts",
  "src/source/sql/statement.ts",
  "src/source/table-settings.ts",
];

/** What `status` loads, most of it for other questions too: to find a file takes longer than to run it. */
const status: Members = [
  "migrations/",
  "src/inquiry/absence.ts",
  "src/inquiry/alerts.ts",
  "src/inquiry/audit.ts",
  "src/inquiry/holds.ts",
  "src/inquiry/inquiry.ts",
  "src/inquiry/operations.ts",
  "src/inquiry/read-only-ledger.ts",
  "src/inquiry/runs.ts",
  "src/inquiry/status.ts",
  "src/ledger/audit/audit-log.ts",
  "src/ledger/audit/kept-tree.ts",
  "src/ledger/audit/merkle-log.ts",
  "src/ledger/audit/record-tree.ts",
  "src/ledger/audit/verify-log.ts",
  "src/ledger/database/",
  "src/ledger/records/open-records.ts",
  "src/ledger/records/source-reads.ts",
  "src/ledger/runs/run-statements.ts",
  "src/ledger/runs/run-tables.ts",
  "src/report/absence.ts",
  "src/report/last-runs.ts",
  "src/report/open.ts",
  "src/report/runs.ts",
  "src/report/status.ts",
  "src/report/table.ts",
  "src/report/text.ts",
];

/** What tables of a terminal are drawn with. */
const tables: Members = [
  "cli-table3",
  "string-width",
  "strip-ansi",
  "ansi-regex",
  "is-fullwidth-code-point",
  "emoji-regex",
];

/** What lines of the log are written with. */
const log: Members = [
  "src/base/logger.ts",
  "pino",
  "@pinojs/",
  "quick-format-unescaped",
  "sonic-boom",
  "atomic-sleep",
  "on-exit-leak-free",
  "thread-stream",
  "safe-stable-stringify",
  "real-require",
];

const together: readonly (readonly [string, Members])[] = [
  ["config", config],
  ["log", log],
  ["status", status],
  ["tables", tables],
];

/** Rooms whose modules make much when they are loaded: each of them is a file of its own. */
const apart: Members = [
  "src/crm/order-schemas.ts",
  "src/crm/staff-schemas.ts",
  "src/operation/",
  "src/contract/",
  "src/inquiry/",
  "src/ledger/",
  "src/plan/",
  "src/report/",
];

/** What the program begins with, before any other file is loaded: it is in the file that begins. */
const beginning: Members = ["src/base/kept-code.ts", "src/base/code-store.ts"];

/** Where the processes begin. They do something when they are loaded, so that no other file may hold or load them. */
export const entries = { main: "src/main.ts", sandbox: "src/sandbox/main.ts" } as const;

/** The name of the file of the bundle that a module goes into; undefined for an entry, and what is none of ours. */
export function fileOf(root: string, id: string): string | undefined {
  const name = nameOf(root, id.replaceAll("\0", ""));
  if (name === undefined || isOneOf(name, [...Object.values(entries), ...beginning])) return undefined;
  if (isOneOf(name, start) && !isOneOf(name, later)) return "start";
  const found = together.find(([, members]) => isOneOf(name, members));
  if (found !== undefined) return found[0];
  const own = name.replace(/^src\//u, "").replace(/\.ts$/u, "");
  return isOneOf(name, apart) || !name.endsWith(".ts") ? own.replaceAll("/", "-") : own.split("/")[0];
}

/** The path from the project's folder, or the name of the package. */
function nameOf(root: string, path: string): string | undefined {
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//u.exec(path)?.[1];
  return inPackage ?? (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined);
}

function isOneOf(name: string, members: Members): boolean {
  return members.some((member) => name.startsWith(member));
}
