import type { Stream } from "../crm/model.ts";
import { parseKey } from "../crm/keys.ts";
import { nextForDeferral, nextForQuarantine } from "./next-steps.ts";
import { counted, numberText, printable, renderTable, type View } from "./text.ts";

export interface OpenRecords {
  /** `deferred`: waits; `rejected`: a service refused it; `quarantined`: not usable. */
  standing: "deferred" | "rejected" | "quarantined";
  stream: Stream;
  code: string;
  /** The code that blocks the customer that they wait for; otherwise the same as `code`. */
  cause: string;
  /** Who must act: `crm`, `configuration`, `platform`, `operator` or `program`. */
  owner: string;
  /** Counts in exit codes, `status`, `/healthz` and alerts. False: a person decided so, or nothing is left to do. */
  counts: boolean;
  /** A person stopped the run or asked it for something else. The next run takes them up; nothing is wrong. */
  nextRun: boolean;
  count: number;
  since: string;
  /** The oldest few: `crm/10248`, or the place of a row without an id. */
  examples: OpenExample[];
}

/** `hold`: an open or rejected hold on it. */
interface OpenExample {
  record: string;
  reason: string;
  since: string;
  hold?: string;
}

export const requestOpen = "request.open";

/** Code of records whose source is no longer configured. Their `cause` is the source's name. */
export const sourceRemoved = "source.removed";

export const operationParked = "a person must decide the outcome of an operation of its customer";
export const operationSettled = "the operation that it waited for is settled";

const nouns: Record<Stream, [one: string, many: string]> = {
  customers: ["customer", "customers"],
  orders: ["order", "orders"],
  staff: ["staff member", "staff members"],
};

const mostReasons = 20;
const mostExamples = 3;

export function openCode({ code, cause }: Pick<OpenRecords, "code" | "cause">): string {
  return code === cause ? code : `${code} by ${cause}`;
}

export function openCount(open: readonly OpenRecords[]): number {
  return open.filter((group) => group.counts).reduce((sum, group) => sum + group.count, 0);
}

/** `414 orders wait (customer.blocked by assumption.missing)`. */
export function openWhat(group: OpenRecords): string {
  const how: Readonly<Record<OpenRecords["standing"], [one: string, many: string]>> = {
    deferred: ["waits", "wait"],
    quarantined: ["is in quarantine", "are in quarantine"],
    rejected: ["was rejected", "were rejected"],
  };
  const [one, many] = how[group.standing];
  return `${counted(group.count, ...nouns[group.stream])} ${group.count === 1 ? one : many} (${openCode(group)})`;
}

/**
 * `62 customers wait (assumption.missing), owner: the configuration: crm/C1, crm/C2, crm/C3 and 59 more`. It has ids
 * only: no private value, no reason.
 */
export function openNamed(group: OpenRecords): string {
  const named = group.examples
    .slice(0, mostExamples)
    .map((example) => example.record)
    .join(", ");
  const more = group.count > mostExamples ? ` and ${group.count - mostExamples} more` : "";
  return printable(`${openWhat(group)}, owner: the ${ownerName(group.owner)}: ${named}${more}`);
}

export function ownerName(owner: string): string {
  return owner === "crm" ? "CRM" : owner;
}

export function nextForRemoved(source: string): string {
  return (
    `if another source contains these records now: crm-sync reassign ${source} --to SOURCE --reason TEXT. If no ` +
    `source does: crm-sync reassign ${source} --release --reason TEXT (the licences stay). Or configure the source again`
  );
}

export function nextForOpen(group: OpenRecords): string {
  if (group.code === sourceRemoved) return nextForRemoved(group.cause);
  if (group.standing === "quarantined") return nextForQuarantine();
  const [first] = group.examples;
  if (group.examples.some(({ reason }) => reason === operationParked))
    return "decide the outcome of the operation: crm-sync settle list";
  if (first !== undefined && group.examples.every(({ reason }) => reason === operationSettled))
    return nextForDeferral("run.stopped");
  const single = group.count === 1 && first !== undefined ? parseKey(first.record) : undefined;
  const holds = [...new Set(group.examples.flatMap(({ hold }) => hold ?? []))];
  return nextForDeferral(group.cause, {
    record: single && { stream: group.stream, key: single },
    customer: group.stream === "customers" ? single : undefined,
    reason: first?.reason,
    // With more records than examples the list would be incomplete.
    holds: group.count > group.examples.length ? [] : holds,
  });
}

export function serviceTrouble(
  open: readonly { code: string; examples: readonly { reason: string }[] }[],
): string | undefined {
  return open.find(({ code }) => unreachedCodes.includes(code))?.examples[0]?.reason;
}

export const unreachedCodes: readonly string[] = ["service.not-sent", "service.unreadable"];

/** Open records by state: `3 records waiting`, `11 in quarantine`. */
export function openCounts(open: readonly OpenRecords[]): string[] {
  const counts: string[] = [];
  for (const [standing, word] of standings) {
    const count = openCount(open.filter((group) => group.standing === standing));
    if (count > 0)
      counts.push(counts.length > 0 ? `${numberText(count)} ${word}` : `${counted(count, "record")} ${word}`);
  }
  return counts;
}

const standings = [
  ["deferred", "waiting"],
  ["quarantined", "in quarantine"],
  ["rejected", "rejected"],
] as const;

/** A table of open work by reason, after an empty line; empty if nothing is open. */
export function openTable(all: readonly OpenRecords[], view: View): string[] {
  const open = all.filter(({ counts }) => counts);
  if (open.length === 0) return [];
  const table = renderTable(
    ["records", { title: "such as", tone: "id" }, "because"],
    open.slice(0, mostReasons).map((group) => [openWhat(group), group.examples[0]?.record, group.examples[0]?.reason]),
    view,
  );
  const more = open.length - mostReasons;
  return [
    "",
    ...table.split("\n"),
    ...(more > 0 ? [`and ${counted(more, "more reason")}: crm-sync status --all`] : []),
  ];
}
