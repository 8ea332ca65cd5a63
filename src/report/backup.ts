import type { ClockDoubt } from "../base/trusted-time.ts";
import { counted, printable } from "./text.ts";

/** What is told of a backup. */
export interface BackupFacts {
  path: string;
  manifest: {
    bytes: number;
    commits: number;
    audit: { sequence: number; hash: string } | null;
    periods: readonly string[];
  };
  removed: readonly string[];
  /** Why no older one was taken away, and the next step. */
  clock?: ClockDoubt | undefined;
}

/** A backup in a few lines: where it is, how far it goes, and which older ones were removed for it. */
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

/** What putting a backup back came to. */
export interface RestoredFacts {
  path: string;
  manifest: BackupFacts["manifest"] & { at: string };
  gap: { kind: "none" } | { kind: "known"; commits: number; entries: number; at: string } | { kind: "unknown" };
  aside: string | undefined;
  periods: number;
  erased: string[];
}

/** What stands there now, what it lacks and what that means, and what to do next. */
export function restoredLines({ path, manifest, gap, aside, periods, erased }: RestoredFacts): string[] {
  const { audit, at } = manifest;
  const record = audit === null ? "no audit entry" : `audit entry ${audit.sequence}`;
  return [
    `${path} is the backup of ${at} again: ${record}, ${counted(manifest.commits, "group", "groups")} of changes`,
    ...(aside === undefined ? [] : [`the file that was there before is kept as ${aside}`]),
    ...(periods === 0 ? [] : [`${counted(periods, "file", "files")} of closed periods put back`]),
    ...gapLines(gap),
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
