import { canonicalJson, sha256 } from "../base/canonical-json.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf, Problem } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { customerKeyOf } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { AbsenceRule } from "../ledger/records/absence.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { IngestedRecord, IngestedRejection } from "../ledger/records/record-tables.ts";
import type { SkippedRecord } from "../ledger/records/skipped.ts";
import { validate } from "../plan/validate.ts";
import type { Rejection } from "../source/mapping/compile.ts";
import { blankSecrets } from "../source/mapping/secrets.ts";
import type { RawRecord, SourceItem } from "../source/reader.ts";
import type { Source, StreamMapping } from "../source/source.ts";
import { detailShrinkage, firstOf, shrinkage } from "./shrinkage.ts";
import { ReadPart } from "./read-parts.ts";
import type { Asked } from "./read-question.ts";
import { DriftWatch } from "./source-drift.ts";

/** How reading one stream of one source ended, in records. */
export interface StreamTally {
  source: string;
  stream: Stream;
  extracted: number;
  unchanged: number;
  changed: number;
  quarantined: number;
  /** Left out by the `skip` of the stream. */
  skipped: number;
  absent: number;
  complete: boolean;
  /** The read was complete, but lost too many records to be believed about what is gone. */
  shrunk: string | undefined;
  problem: Problem | undefined;
}

/** What a tally counts, and of which stream. */
export function countsOf(tally: StreamTally): Omit<StreamTally, "complete" | "shrunk" | "problem"> {
  const { source, stream, extracted, unchanged, changed, quarantined, skipped, absent } = tally;
  return { source, stream, extracted, unchanged, changed, quarantined, skipped, absent };
}

/** Says in the log how reading one stream ended: what was found, or why it was not read or not believed. */
export function logTally(logger: Logger, run: string, tally: StreamTally): void {
  const fields = { run, ...countsOf(tally) };
  if (tally.problem !== undefined) {
    const { code, message, cure } = tally.problem;
    logger.error({ ...fields, code, reason: message, cure }, "source not read");
  } else if (tally.shrunk !== undefined) logger.error({ ...fields, reason: tally.shrunk }, "source shrank");
  else logger.info(fields, "source read");
}

export interface IngestDependencies {
  ledger: Ledger;
  settings: AssumptionSettings;
  logger: Logger;
  limits: { sourceShrink: number };
  /** When what is missing counts as gone; undefined: it does not count (a plan). */
  absence: AbsenceRule | undefined;
  /** A job that reads this stream: the command that believes a shrunken source names it. */
  job: string | undefined;
  /** A person said that this source has really lost its records: believed once. */
  acceptShrink: boolean;
  /** A person said that this source really looks otherwise than before: believed once. */
  acceptDrift: boolean;
  progress: (done: number) => void;
  clock: Pick<Clock, "now">;
}

/** How a reading is asked for. */
export interface ReadingAsked {
  /** What it asks its source for, given the fingerprint of its question; everything, where nobody says. */
  asked?: (question: string) => Promise<Asked>;
  /** Where it is cut, the next run goes on with it: a reading by a run. */
  keeps?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Reads one stream of a source into the ledger: what is as it was is only marked as seen; the rest is mapped, checked
 * and kept, or put into quarantine. What is gone is believed only from a whole, complete read that did not shrink.
 * In one piece: one reading from its first row to its end.
 */
export async function ingestStream(
  deps: IngestDependencies,
  source: Source,
  stream: Stream,
  run: string,
  options: ReadingAsked,
): Promise<StreamTally> {
  const { ledger } = deps;
  const begun = await beginReading(source, stream, options);
  const { mapping, asked = {} } = begun;
  const before = asked.resume;
  const made = { question: mapping?.question, mapping: mapping?.fingerprint, continues: before?.first };
  const read = await ledger.records.startRead(run, source.name, stream, made);
  const tally: StreamTally = {
    source: source.name,
    stream,
    extracted: 0,
    unchanged: 0,
    changed: 0,
    quarantined: 0,
    skipped: 0,
    absent: 0,
    complete: false,
    shrunk: undefined,
    problem: undefined,
  };
  let part: ReadPart | undefined;
  let close: (() => Promise<unknown>) | undefined;
  try {
    if (mapping === undefined) throw begun.failure;
    const salt = await ledger.private.rawSalt();
    const earlier = await ledger.records.readsToCompare(source.name, stream);
    const keeps = options.keeps === true && asked.since === undefined;
    const partOf = { read, source: source.name, stream, question: mapping.question, before, keeps };
    part = new ReadPart(ledger, partOf, deps.clock.now(), () => ({ rows: tally.extracted, bad: tally.quarantined }));
    const changesOnly = asked.since !== undefined;
    const isWhole = !changesOnly && before === undefined;
    const shape = deps.acceptDrift ? undefined : await ledger.records.shapeBefore(source.name, stream);
    const watched = { source: source.name, stream, mapping, before: shape, changesOnly, job: deps.job };
    const watch = new DriftWatch(watched);
    const rawReading = source.read(stream, {
      ...part.options,
      ...(asked.since === undefined ? {} : { since: asked.since }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      batchSize: 500,
      distrust: (details) =>
        deps.acceptShrink ? undefined : firstOf(earlier, (row) => detailShrinkage(details, row, deps.limits)),
    });
    const reading = watch.watch(rawReading);
    const believed =
      `where so many are really gone, \`crm-sync run ${deps.job ?? "JOB"} --accept-shrink ` +
      `${source.name}\` believes it once`;
    close = () => reading.return({ complete: false, full: false, rows: 0 });
    for (;;) {
      const next = await reading.next();
      await part.kept();
      if (next.done === true) {
        if (!next.value.complete && options.signal?.aborted === true)
          return { ...tally, problem: stoppedReading(source.name, stream) };
        const outcome = part.judged(next.value);
        const rows = tally.extracted + part.rowsBefore;
        tally.complete = outcome.complete;
        tally.problem = outcome.problem;
        const shrunk =
          outcome.shrunk ??
          (outcome.complete && outcome.full && !deps.acceptShrink
            ? firstOf(earlier, (row) =>
                outcome.details === undefined || row.details === null
                  ? shrinkage(rows, row.rows, deps.limits.sourceShrink, "records", row)
                  : undefined,
              )
            : undefined);
        if (shrunk !== undefined) tally.shrunk = `${shrunk}; export it again, or ${believed}`;
        await ledger.records.finishRead(read, {
          complete: outcome.complete && tally.shrunk === undefined,
          whole: outcome.full,
          rows,
          bad: tally.quarantined + part.badBefore,
          cursor: outcome.cursor,
          details: outcome.details,
          problem: tally.shrunk ?? outcome.problem?.message,
          shrunk: tally.shrunk !== undefined,
          shape: isWhole && outcome.complete && tally.shrunk === undefined ? watch.shape : undefined,
        });
        if (outcome.complete && outcome.full && tally.shrunk === undefined) {
          const closed = await ledger.records.closeWholeRead(source.name, stream, read, deps.absence, run);
          tally.absent = closed.absent;
          tally.quarantined -= closed.released;
          tally.changed += closed.released;
        }
        await part.end(outcome);
        return tally;
      }
      await ingestBatch(deps, source.name, stream, read, run, mapping, salt, next.value, tally);
      deps.progress(tally.extracted);
    }
  } catch (error) {
    if (ledger.broken !== undefined) throw error;
    // A reading that was stopped on purpose has not ended: it says nothing of the source.
    if (options.signal?.aborted === true) return { ...tally, problem: stoppedReading(source.name, stream) };
    tally.problem =
      error instanceof Problem
        ? error
        : new Problem({
            code: "source.failed",
            message: `the source ${source.name} could not be read (${stream}): ${messageOf(error)}`,
            cure: "check the source with `crm-sync check`",
            cause: error,
          });
    await ledger.records.finishRead(read, {
      complete: false,
      whole: false,
      rows: tally.extracted + (part?.rowsBefore ?? 0),
      bad: tally.quarantined + (part?.badBefore ?? 0),
      problem: tally.problem.message,
    });
    await part?.end(tally);
    return tally;
  } finally {
    // Only a reading that was left before its end has something to close: why it was left is what is told.
    await close?.().catch(() => undefined);
    await part?.settled();
    ledger.records.endReading(read);
  }
}

/** What a reading begins with; or why it cannot begin, which is told of it as of any other reading. */
async function beginReading(
  source: Source,
  stream: Stream,
  { asked, signal }: ReadingAsked,
): Promise<{ mapping?: StreamMapping; asked?: Asked | undefined; failure?: unknown }> {
  let mapping: StreamMapping;
  try {
    mapping = await source.mapping(stream, signal);
  } catch (failure) {
    return { failure };
  }
  return { mapping, asked: await asked?.(mapping.question) };
}

function stoppedReading(source: string, stream: Stream): Problem {
  return new Problem({
    code: "run.stopped",
    message: `the reading of ${source} (${stream}) was stopped with the run`,
    cure: "nothing: the next run reads it again",
  });
}

async function ingestBatch(
  deps: IngestDependencies,
  source: string,
  stream: Stream,
  read: number,
  run: string,
  mapping: StreamMapping,
  salt: string,
  items: readonly SourceItem[],
  tally: StreamTally,
): Promise<void> {
  const hashed = items.map((item) => ({ item, hash: hashOfItem(item, salt + mapping.fingerprint) }));
  const seen = await deps.ledger.records.markSeen(
    source,
    stream,
    read,
    hashed.map((entry) => entry.hash),
  );
  const fresh: ({ record: IngestedRecord } | { rejection: IngestedRejection })[] = [];
  const skipped: SkippedRecord[] = [];
  for (const { item, hash } of hashed) {
    tally.extracted += 1;
    if (seen.unchanged.has(hash)) tally.unchanged += 1;
    else if (seen.quarantined.has(hash)) tally.quarantined += 1;
    else {
      const mapped = mapItem(stream, item, hash, mapping, deps.settings);
      if ("skipped" in mapped) skipped.push(mapped.skipped);
      else fresh.push(mapped);
    }
  }
  tally.skipped += skipped.length;
  if (skipped.length > 0) await deps.ledger.records.skip(source, stream, read, skipped);
  if (fresh.length === 0) return;
  const taken = await deps.ledger.records.ingest(source, stream, read, run, fresh);
  tally.changed += taken.changed;
  tally.unchanged += taken.unchanged;
  tally.quarantined += taken.quarantined;
}

/**
 * The hash by which a raw form is known again. Salted by the ledger, because raw forms hold private values and may hold
 * secrets.
 */
function hashOfItem(item: SourceItem, fingerprint: string): string {
  if ("raw" in item) return sha256(`${fingerprint}\n${canonicalJson(item.raw.value)}`);
  return sha256(
    `${fingerprint}\nbad\n${item.bad.key ?? item.bad.place}\n${item.bad.code}\n${item.bad.text ?? item.bad.message}`,
  );
}

/** The hash by which a raw record is known again that was mapped with the mapping of this fingerprint. */
export function hashOfRaw(value: JsonObject, salt: string, fingerprint: string): string {
  return hashOfItem({ raw: { place: "", value } }, salt + fingerprint);
}

/** The customer that a raw order or person names, although the record cannot be used. */
function customerNamed(rejection: Rejection): RecordKey | undefined {
  const { namespace, customerNamespace, customerId } = rejection;
  return customerId === undefined ? undefined : { namespace: customerNamespace ?? namespace ?? "crm", id: customerId };
}

/** What a raw record comes to. */
type MappedItem = { record: IngestedRecord } | { rejection: IngestedRejection } | { skipped: SkippedRecord };

/** A raw record of a source as the ledger takes it up, with the hash by which it is known again. */
export function mapRaw(
  stream: Stream,
  raw: RawRecord,
  mapping: StreamMapping,
  salt: string,
  settings: AssumptionSettings,
): MappedItem {
  return mapItem(stream, { raw }, hashOfItem({ raw }, salt + mapping.fingerprint), mapping, settings);
}

function mapItem(
  stream: Stream,
  item: SourceItem,
  rawHash: string,
  mapping: StreamMapping,
  settings: AssumptionSettings,
): MappedItem {
  if ("bad" in item) {
    const { bad } = item;
    return {
      rejection: {
        rawHash,
        place: bad.place,
        key: undefined,
        customer: undefined,
        field: "",
        code: bad.code,
        message: bad.message,
        expected: undefined,
        raw: bad.text ?? "",
      },
    };
  }
  const { raw } = item;
  const kept = JSON.stringify(
    mapping.secretPaths.length === 0 ? raw.value : blankSecrets(raw.value, mapping.secretPaths),
  );
  const left = mapping.skip?.(raw.value);
  if (left?.ok === true && left.value !== undefined) return { skipped: left.value };
  const mapped = left?.ok === false ? left : mapping.map(raw.value);
  if (!mapped.ok) {
    const { namespace, id, field, code, message, expected } = mapped.error;
    const key: RecordKey | undefined = id === undefined ? undefined : { namespace: namespace ?? "crm", id };
    return {
      rejection: {
        rawHash,
        place: raw.place,
        key,
        customer: stream === "customers" ? key : customerNamed(mapped.error),
        field,
        code,
        message,
        expected,
        raw: kept,
      },
    };
  }
  const { record } = mapped.value;
  const key: RecordKey = { namespace: record.namespace, id: record.id };
  const customer = customerKeyOf(stream, record);
  const fault = validate(mapped.value, settings);
  if (fault !== undefined) return { rejection: { rawHash, place: raw.place, key, customer, ...fault, raw: kept } };
  const { zones } = mapped.value;
  return { record: { rawHash, place: raw.place, key, customer, record: { ...record }, zones, raw: kept } };
}
