import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import type { Stream } from "../../src/crm/model.ts";
import { createStaging } from "../../src/ledger/records/staging.ts";
import type { BadRecord, RawRecord, ReadOptions, ReadOutcome, SourceReader } from "../../src/source/reader.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { createSource, type Source, type SourceDeps } from "../../src/source/source.ts";

/** A directory of its own for a test, with these files in it. */
export function directoryWith(files: Record<string, string | Buffer>): string {
  const directory = mkdtempSync(join(tmpdir(), "crm-sync-source-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  return directory;
}

/** A source from settings as the configuration writes them. */
export function openSource(settings: unknown, baseDirectory: string, deps: Partial<SourceDeps> = {}): Source {
  const source = createSource("crm", sourceSettingsSchema.parse(settings), {
    clock: systemClock,
    random: systemRandomness,
    secrets: (ref) => `secret of ${ref}`,
    staging: createStaging(),
    baseDirectory,
    ...deps,
  });
  onTestFinished(() => source.close());
  return source;
}

/** The files of this process that are open below a path, or at it. */
export function openFiles(path: string): string[] {
  const folder = "/proc/self/fd";
  return readdirSync(folder)
    .map((descriptor) => {
      try {
        return readlinkSync(join(folder, descriptor));
      } catch {
        // The descriptor that lists them is gone by now.
        return "";
      }
    })
    .filter((file) => file === path || file.startsWith(`${path}/`));
}

export interface WholeReading {
  raws: RawRecord[];
  bads: BadRecord[];
  outcome: ReadOutcome;
  batches: number[];
}

/** Everything a reading yields, in order. */
export async function readAll(source: SourceReader, stream: Stream, options: ReadOptions = {}): Promise<WholeReading> {
  const reading = source.read(stream, options);
  const all: Omit<WholeReading, "outcome"> = { raws: [], bads: [], batches: [] };
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return { ...all, outcome: next.value };
    all.batches.push(next.value.length);
    for (const item of next.value) {
      if ("raw" in item) all.raws.push(item.raw);
      else all.bads.push(item.bad);
    }
  }
}

/** The least mapping of customers that compiles. */
export const customerMapping = {
  id: "id",
  name: "name",
  customerType: { value: "company" },
  branchCode: { value: "HQ" },
  branchName: { value: "Headquarters" },
};

/** A file source with one stream of customers. */
export function customersFile(stream: Record<string, unknown>): unknown {
  return { kind: "file", streams: { customers: { mapping: customerMapping, ...stream } } };
}
