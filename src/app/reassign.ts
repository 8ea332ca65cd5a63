import { usage } from "../base/errors.ts";
import type { Unread } from "../ledger/records/removed-sources.ts";
import type { Application } from "./application.ts";
import { streamsOf } from "./jobs.ts";

/**
 * Gives the records of a source that is configured no longer to another one, or without `to` lets go of them: see
 * `RemovedSources`. Answers which records these are. Throws a usage Problem where there are none, and a Problem with
 * exit code 75 while a run is in progress.
 */
export async function reassign(
  application: Pick<Application, "existingLedger" | "sources" | "jobs">,
  { from, to }: { from: string; to: string | undefined },
  whose: { by: string; reason: string },
): Promise<Unread[]> {
  const { runs, records } = await application.existingLedger();
  const streams = streamsOf(application.sources(), application.jobs());
  runs.takeLock();
  try {
    await records.configureStreams(streams);
    const left = (await records.removedSources.unread()).filter(({ source }) => source === from);
    if (left.length === 0)
      throw usage(
        `no record is left of a source ${from} that is configured no longer`,
        "`crm-sync status` lists the records that no source reads",
      );
    const given =
      to === undefined
        ? left
        : left.filter(({ stream }) => streams.some((one) => one.source === to && one.stream === stream));
    if (given.length === 0) {
      const all = left.map(({ stream }) => stream).join(", ");
      throw usage(`no source ${to} is configured that gives ${all}`, "name one that does, in place of the removed one");
    }
    await records.removedSources.reassign(given, to, whose);
    return given;
  } finally {
    runs.releaseLock();
  }
}
