import type { Stream } from "../crm/model.ts";
import { parseKey } from "../crm/keys.ts";
import { nextForDeferral, nextForQuarantine } from "./next-steps.ts";
import { ageOf, counted, printable } from "./text.ts";

/** Records of one stream that are not done for the same reason. */
export interface OpenRecords {
  /** `deferred`: waits for something else; `rejected`: a service refused it; `quarantined`: cannot be used as it is. */
  standing: "deferred" | "rejected" | "quarantined";
  stream: Stream;
  code: string;
  /** What stops the customer that they wait for; else the same as `code`. */
  cause: string;
  /** Who can end it: `crm`, `configuration`, `platform`, `operator` or `program`. */
  owner: string;
  /**
   * Work that is not done: counts in exit codes, `status`, `/healthz` and alerts. false: a person decided so, or
   * nothing is left to do.
   */
  counts: boolean;
  /** A person stopped the run or asked it for something else: the next one takes them up, and nothing is wrong. */
  nextRun: boolean;
  count: number;
  /** Since when the oldest of them stands so. */
  since: string;
  /** The oldest few: `crm/10248`, or the place of a row without an id. */
  examples: OpenExample[];
}

/** `hold`: what a person has to decide of it, or rejected. */
interface OpenExample {
  record: string;
  reason: string;
  since: string;
  hold?: string;
}

/** The code of customers of whom something is asked for and not done, and who wait for nothing else. */
export const requestOpen = "request.open";

/** The code of records whose source is configured no longer; their cause is its name. */
export const sourceRemoved = "source.removed";

const nouns: Record<Stream, [one: string, many: string]> = {
  customers: ["customer", "customers"],
  orders: ["order", "orders"],
  staff: ["staff member", "staff members"],
};

const mostGroups = 3;
const mostExamples = 3;

/** The code of a group, and what stops the customer where that is what they wait for. */
export function openCode({ code, cause }: Pick<OpenRecords, "code" | "cause">): string {
  return code === cause ? code : `${code} by ${cause}`;
}

/** What counts of it, and how many records that are. */
export function openCount(open: readonly OpenRecords[]): number {
  return open.filter((group) => group.counts).reduce((sum, group) => sum + group.count, 0);
}

/** `414 orders are deferred (customer.blocked by assumption.missing)`. */
export function openWhat(group: OpenRecords): string {
  const [one, many] = nouns[group.stream];
  const how = group.standing === "quarantined" ? "in quarantine" : group.standing;
  return `${counted(group.count, one, many)} ${group.count === 1 ? "is" : "are"} ${how} (${openCode(group)})`;
}

/**
 * `62 customers are deferred (assumption.missing; the configuration): crm/C1, crm/C2, crm/C3 and 59 more`. Ids only: no
 * private value, no reason.
 */
export function openNamed(group: OpenRecords): string {
  const named = group.examples
    .slice(0, mostExamples)
    .map((example) => example.record)
    .join(", ");
  const more = group.count > mostExamples ? ` and ${group.count - mostExamples} more` : "";
  return printable(`${openWhat(group)}, owner: the ${ownerName(group.owner)}: ${named}${more}`);
}

/** One group in a sentence with its age, its owner, the first few records and why. */
export function openSentence(group: OpenRecords, now: string): string {
  const because = group.examples[0]?.reason ?? "";
  return printable(`${openNamed(group)}; the oldest for ${ageOf(group.since, now)}: ${because}`);
}

function ownerName(owner: string): string {
  return owner === "crm" ? "CRM" : owner;
}

/** What a person does about a group. */
export function nextForOpen(group: OpenRecords): string {
  if (group.code === sourceRemoved)
    return (
      `if another source contains these records now: crm-sync reassign ${group.cause} --to SOURCE --reason TEXT. If ` +
      `no source does: crm-sync reassign ${group.cause} --release --reason TEXT (the licences stay). Or configure ` +
      "the source again"
    );
  if (group.standing === "quarantined") return nextForQuarantine();
  const [first] = group.examples;
  const single = group.count === 1 && first !== undefined ? parseKey(first.record) : undefined;
  const holds = [...new Set(group.examples.flatMap(({ hold }) => hold ?? []))];
  return nextForDeferral(group.cause, {
    record: single && { stream: group.stream, key: single },
    customer: group.stream === "customers" ? single : undefined,
    reason: first?.reason,
    // Those of more than three records are in `status` alone.
    holds: group.count > group.examples.length ? [] : holds,
  });
}

/**
 * What is not done, in one line: `476 records are not done: 414 orders are deferred (customer.blocked), …`. Undefined
 * where all is done.
 */
export function notDone(open: readonly OpenRecords[]): string | undefined {
  const groups = open.filter((group) => group.counts);
  const count = openCount(groups);
  if (count === 0) return undefined;
  const named = groups.slice(0, mostGroups).map(openWhat);
  const more = groups.length > mostGroups ? [counted(groups.length - mostGroups, "more reason")] : [];
  return `${counted(count, "record")} ${count === 1 ? "is" : "are"} not done: ${[...named, ...more].join(", ")}`;
}
