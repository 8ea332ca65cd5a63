import type { Records } from "../../ledger/records/records.ts";
import type { ConfiguredStream, SourceReadRow } from "../../ledger/records/source-reads.ts";
import type { Block } from "../../engine/plan/block.ts";

/**
 * Why nothing may be taken away now: the last read of a configured stream, whichever job made it, did not reach its
 * end, shrank, was cut off, or never happened. What that source would have said may be what keeps the thing. A finished
 * read of changes only is no doubt.
 */
export async function takingBlockedBy(
  ledger: { records: Pick<Records, "lastRead"> },
  streams: readonly ConfiguredStream[],
): Promise<Block | undefined> {
  const doubts: string[] = [];
  for (const stream of streams) {
    const name = `${stream.source}/${stream.stream}`;
    const doubt = doubtOf(name, await ledger.records.lastRead(stream.source, stream.stream));
    if (doubt !== undefined)
      doubts.push(
        `${doubt}; ${cureOf(name, stream.job, doubt.endsWith("was never read") ? "reads it" : "reads it again")}`,
      );
  }
  const [first, ...others] = doubts;
  if (first === undefined) return undefined;
  const more = others.length === 0 ? "" : ` (and ${others.length} more: \`crm-sync status\`)`;
  return { code: "revokes.blocked", reason: `nothing is removed: ${first}${more}`, again: true };
}

function doubtOf(name: string, read: SourceReadRow | undefined): string | undefined {
  if (read === undefined) return `${name} was never read`;
  if (read.finished_at === null) return `the last read of ${name} did not finish`;
  if (read.complete === 1) return undefined;
  if (read.doubted === 1) return `the last read of ${name} is not believed: ${read.problem ?? "its rows may be wrong"}`;
  return `the last read of ${name} was not complete: ${withoutDot(read.problem ?? "it did not reach its end")}`;
}

function cureOf(name: string, job: string | undefined, reads: string): string {
  if (job === undefined) return `no job reads ${name}: add it to a job, or remove it from the configuration`;
  return `\`crm-sync run ${job}\` ${reads}; remove ${name} from the configuration if it is no longer used`;
}

function withoutDot(text: string): string {
  return text.replace(/\.$/u, "");
}
