import type { ClockDoubt } from "../base/trusted-time.ts";
import type { Paused } from "./status.ts";
import { counted, printable } from "./text.ts";

interface BackupFacts {
  path: string;
  manifest: {
    bytes: number;
    commits: number;
    audit: { sequence: number; hash: string } | null;
    periods: readonly string[];
  };
  removed: readonly string[];
  clock?: ClockDoubt | undefined;
}

export function backupLines({ path, manifest, removed, clock }: BackupFacts): string[] {
  const { audit, periods } = manifest;
  const record = audit === null ? "no audit entry yet" : `audit entry ${audit.sequence}, ${audit.hash}`;
  return [
    `${path} written and verified: ${megabytes(manifest.bytes)}, ${record}`,
    ...(periods.length === 0 ? [] : [`${counted(periods.length, "file", "files")} of closed periods beside it`]),
    ...removed.map((gone) => `${gone} removed`),
    ...(clock === undefined ? [] : [`no older backup was removed: ${clock.message}`, `  → ${clock.cure}`]),
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

interface RestoredFacts {
  path: string;
  manifest: BackupFacts["manifest"] & { at: string };
  gap: { kind: "none" } | { kind: "known"; commits: number; entries: number; at: string } | { kind: "unknown" };
  aside: string | undefined;
  periods: number;
  erased: string[];
  paused: Paused | undefined;
  unread: ("erased" | "paused")[];
}

const unreadWords = {
  erased: "whose personal data was erased after the backup: erase it again",
  paused: "whether it was paused: if it was, `crm-sync pause` pauses it again after the rebuild",
};

/** A restored ledger: which changes are missing, what that means, and what to do next. */
export function restoredLines(restored: RestoredFacts): string[] {
  const { path, manifest, gap, aside, periods, erased, paused, unread } = restored;
  const { audit, at } = manifest;
  const record = audit === null ? "no audit entry" : `audit entry ${audit.sequence}`;
  return [
    `${path} is the backup of ${at} again: ${record}, ${counted(manifest.commits, "group", "groups")} of changes`,
    ...(aside === undefined ? [] : [`the file that was there before is kept as ${aside}`]),
    ...(periods === 0 ? [] : [`${counted(periods, "file", "files")} of closed periods put back`]),
    ...gapLines(gap),
    ...(paused === undefined
      ? []
      : [`the pause of ${paused.since} by ${printable(paused.by)} goes on: \`crm-sync resume\` ends it`]),
    ...unread.map((what) => `it could not be read from the file that was there before ${unreadWords[what]}`),
    ...erased.map((subject) => `  erased after it, and there again: ${printable(subject)}`),
  ];
}

function gapLines(gap: RestoredFacts["gap"]): string[] {
  if (gap.kind === "none") return ["nothing was done after it: the next run goes on from here"];
  const lacks =
    gap.kind === "unknown"
      ? "it is not known which changes are newer: there was no file of heads beside the ledger"
      : `it does not have the changes until ${gap.at}: ${counted(gap.commits, "group", "groups")} of changes, ` +
        counted(gap.entries, "audit entry", "audit entries");
  return [
    lacks,
    "the missing changes, also orders, would be made a second time: the ledger can be read, and every " +
      "command that writes is refused",
    "personal data that was erased after it is there again: `crm-sync audit erase --help` says how it is erased anew, after the rebuild",
    "  → restore a newer backup where there is one; else run `crm-sync rebuild`: it reads back from the platform what",
    "    was done since, keeps the history of this one, and lets whatever writes in again",
  ];
}

interface RebuildFacts {
  known: { enterprises: number; orders: number; staff: number; assignments: number };
  lost: readonly { record: string; why: string }[];
  /** Assumed, because no reading shows it. */
  assumed: readonly { record: string; why: string }[];
  left: readonly { record: string; why: string }[];
  /** Only for a restored ledger: the missing time, and how many orders are as the backup has them. */
  gap?: { from: string | null; until: string | null; kept: number } | undefined;
}

/** Kinds of data that no rebuild can bring back, and what that means. */
export function neverRebuilt(isRestored: boolean): readonly string[] {
  return isRestored ? neverFilled : neverBroughtBack;
}

/** Changes since the backup that stay missing. */
const neverFilled = [
  "erasures of personal data since the backup: the erased values are there again; `crm-sync audit " +
    "erase --help` says how to erase them again",
  "books closed, opened again or signed off since: their files lie in the folder of closed periods, and `crm-sync report " +
    "close` closes the months anew",
  "approvals, rejections, requests, links and resolutions of people since the backup: they are asked again",
  "earlier approvals and requests that were not carried out by then: they lapsed, since they may have been done",
  "which accounts crm-sync made since: it never deletes them (M4)",
  "passwords that were made since: `crm-sync staff reset-password --help` says how new ones are set",
  "whether assets were disabled or enabled since: the wish of the CRM counts as done, and nothing is sent",
  "who was given an asset since and is not to have it any more: they keep it; remove it on the platform",
  "orders that were placed since for customers that the CRM gives no more: these orders stay; let a source " +
    "give those customers too (merged into which) before the rebuild",
  "asset numbers that were taken and not used: they are spent",
  "name, branch and address that were acknowledged since: they count as the backup has them, and are sent again " +
    "if the CRM differs",
  "audit entries, runs and history since the backup: the audit log says from when to when they are missing",
] as const;

const neverBroughtBack = [
  "passwords that were made and not handed out: `crm-sync staff reset-password --help` says how new ones are set",
  "which accounts crm-sync made: it never deletes them (M4)",
  "accounts that were made together with an enterprise: they are not protected any more",
  "which customers a person unlinked: they are linked again from the platform; `crm-sync unlink " +
    "--help` says how to unlink them again",
  "orders of customers that the CRM gives no more, where it gives them to others: they are taken for new ones; let a " +
    "source give those customers too (merged into which), and build the ledger anew, before such an order is approved",
  "requests of people, their holds, approvals and earned policies",
  "whether assets are disabled: the wish of the CRM counts as done, and nothing is sent",
  "asset numbers that were taken and not used: they are spent",
  "name, branch and address that the platform acknowledged: taken to be as the CRM has them",
  "the audit chain and all history before now",
] as const;

const mostNamed = 20;

/** `isTried`: a dry run, nothing was kept. */
export function rebuildText({ known, lost, assumed, left, gap }: RebuildFacts, isTried: boolean): string[] {
  const { enterprises, orders, staff, assignments } = known;
  const named = (rows: RebuildFacts["lost"]): string[] => [
    ...rows.slice(0, mostNamed).map(({ record, why }) => printable(`  ${record}: ${why}`)),
    ...(rows.length > mostNamed ? [`  … and ${rows.length - mostNamed} more (--json names all)`] : []),
  ];
  const never = neverRebuilt(gap !== undefined);
  return [
    ...(gap === undefined ? [] : gapText(gap, isTried)),
    `${counted(enterprises, "enterprise")}, ${counted(orders, "order")}, ${counted(staff, "account")} and ` +
      `${counted(assignments, "assignment")} ${isTried ? "would be" : "are"} known again`,
    ...(lost.length === 0
      ? []
      : [`${counted(lost.length, "record")} could not be brought back and wait:`, ...named(lost)]),
    ...(assumed.length === 0 ? [] : [`${counted(assumed.length, "thing")} taken for granted:`, ...named(assumed)]),
    ...(left.length === 0
      ? []
      : [
          `the next run would do ${counted(left.length, "thing")}; what makes something waits for a person's approval:`,
          ...named(left),
        ]),
    `${never.length} kinds of things cannot be brought back:`,
    ...never.map((what) => `  ${what}`),
  ];
}

function gapText({ from, until, kept }: NonNullable<RebuildFacts["gap"]>, isTried: boolean): string[] {
  return [
    `the ledger was restored and does not have the changes from ${from ?? "its beginning"} to ` +
      `${until ?? "a time that nobody knows"}: ` +
      (isTried ? "the audit log would say so from then on" : "the audit log says so from now on"),
    `${counted(kept, "order")} are as the backup has them`,
  ];
}
