import type { Clock } from "../base/clock.ts";
import type { Stream } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Checkpoint } from "../ledger/records/checkpoints.ts";
import type { Source } from "../source/source.ts";

export interface Asked {
  since?: string | undefined;
  resume?: Checkpoint | undefined;
}

interface AskedStream {
  source: Source;
  stream: Stream;
  question: string;
}

interface Asking {
  /** A plan or rebuild neither continues a run's read nor decides when a full read is due. */
  isRun: boolean;
  scope: { source?: string; since?: string } | undefined;
  resumeWithinMs: number;
}

/**
 * Changes are enough only if the last full read had the same question and the next one is not due. Everything is
 * requested if quarantined records need a new mapping, or a person asks for a source. A person's `since` reaches back
 * at least to the last read, so that no gap remains.
 */
export async function askedOf(
  deps: { ledger: Ledger; clock: Clock },
  of: AskedStream,
  { isRun, scope, resumeWithinMs }: Asking,
): Promise<Asked> {
  const { records } = deps.ledger;
  const { source, stream, question } = of;
  const wantsAll = scope?.source !== undefined && scope.since === undefined;
  const since = wantsAll ? undefined : await sinceOf(deps, of, isRun);
  if (since !== undefined) return { since: earlierOf(since, scope?.since, source) };
  if (!isRun) return {};
  const cut = await records.checkpoints.of(source.name, stream);
  if (cut === undefined) return {};
  const age = deps.clock.now() - Date.parse(cut.beganAt);
  const isOf = cut.question === question && age >= 0 && age < resumeWithinMs;
  const isSame = isOf && !(await records.checkpoints.wasAskedOtherwise(source.name, stream, cut.first, question));
  if (isSame && !wantsAll) return { resume: cut };
  await records.checkpoints.drop(source.name, stream);
  return {};
}

/** No time zone is further behind UTC. */
const furthestBehindMs = 43_200_000;

/**
 * In the cursor's format. A cursor in local time without a zone is compared with the earliest possible time, so that
 * nothing is missed.
 */
function earlierOf(cursor: string, asked: string | undefined, { zone }: Source): string {
  if (asked === undefined) return cursor;
  if (cursor.endsWith("Z")) return Date.parse(asked) < Date.parse(cursor) ? asked : cursor;
  const instant = Temporal.Instant.from(asked).subtract({ milliseconds: zone === undefined ? furthestBehindMs : 0 });
  const text = instant
    .toZonedDateTimeISO(zone ?? "UTC")
    .toPlainDateTime()
    .toString();
  return text < cursor ? text : cursor;
}

/** Undefined: a full read is needed. */
async function sinceOf(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  { source, stream, question }: AskedStream,
  isRun: boolean,
): Promise<string | undefined> {
  const fullReadEvery = source.fullReadEveryMs(stream);
  if (fullReadEvery === undefined) return undefined;
  const { records } = ledger;
  const whole = await records.lastWholeRead(source.name, stream, isRun);
  if (whole?.question !== question || (await records.awaitsWholeRead(source.name, stream))) return undefined;
  // Records from a read with other settings, even an interrupted one, keep their form until they are read again.
  if (await records.checkpoints.wasAskedOtherwise(source.name, stream, whole.number, question)) return undefined;
  if (isRun) {
    const age = clock.now() - Date.parse(whole.started_at);
    if (!(age >= 0 && age < fullReadEvery)) return undefined;
  }
  return (await records.lastCompleteRead(source.name, stream))?.cursor ?? undefined;
}
