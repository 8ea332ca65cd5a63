import { toJson } from "../base/canonical-json.ts";
import { usage } from "../base/errors.ts";
import type { Stream } from "../crm/model.ts";
import { leftOf, remapStream } from "../run/remap.ts";
import type { Remapped } from "../run/remap.ts";
import { QuarantineRetries } from "../run/retry.ts";
import type { Retried } from "../run/retry.ts";
import type { Application } from "./application.ts";

/** What became of the stored forms of one stream, and of its rows in quarantine. */
export interface RemappedStream extends Omit<Remapped, "left"> {
  /** How many records stand as they were mapped last, and why. */
  left: { why: string; count: number }[];
  retried: Retried[];
}

/**
 * Maps what the ledger keeps of these streams with the mapping of now: records, changed or not, and rows in quarantine.
 * No source is asked, nothing counts as gone, and what changed is left to the next run. Each stream is an entry of the
 * audit record. Throws a Problem with exit code 75 where a run is on.
 */
export async function remap(
  application: Application,
  only: { source: string | undefined; stream: string | undefined },
  { by, signal }: { by: string; signal: AbortSignal },
): Promise<RemappedStream[]> {
  const chosen = streamsIn(application, only);
  const ledger = await application.existingLedger();
  ledger.runs.takeLock();
  try {
    const { assumptions: settings } = application.config;
    const retries = new QuarantineRetries({ ledger, sources: application.sources(), settings });
    const waiting = [...(await application.inquiry()).quarantine()];
    const results: RemappedStream[] = [];
    for (const { source, stream } of chosen) {
      const remapped = await remapStream({ ledger, settings, signal }, source, stream);
      const retried: Retried[] = [];
      for (const row of waiting.filter((one) => one.source === source.name && one.stream === stream))
        retried.push(await retries.retry(row.id, by));
      const { source: _source, stream: _stream, ...counts } = remapped;
      const subject = `stream:${source.name}/${stream}`;
      await ledger.audit.append({ kind: "mapped-anew", subject, body: { by, ...counts, left: toJson(counts.left) } });
      results.push({ ...remapped, left: leftOf(remapped), retried: retried.filter(({ kind }) => kind !== "unknown") });
    }
    return results;
  } finally {
    // Look-up tables of a mapping are read in the view of their source.
    for (const { source } of chosen) await source.endReading();
    ledger.runs.releaseLock();
  }
}

function streamsIn(
  application: Application,
  only: { source: string | undefined; stream: string | undefined },
): { source: ReturnType<Application["sources"]>[number]; stream: Stream }[] {
  const sources = application.sources();
  const named = sources.filter(({ name }) => only.source === undefined || name === only.source);
  if (named.length === 0)
    throw usage(`there is no source ${only.source}`, `use one of: ${sources.map(({ name }) => name).join(", ")}`);
  const chosen = named.flatMap((source) => source.streams.map((stream) => ({ source, stream })));
  const found = chosen.filter(({ stream }) => only.stream === undefined || stream === only.stream);
  if (found.length === 0)
    throw usage(
      `${only.source} has no stream ${only.stream}`,
      `use one of: ${chosen.map(({ stream }) => stream).join(", ")}`,
    );
  return found;
}
