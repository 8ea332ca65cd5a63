import { isAbsolute, resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { durationMs } from "../base/duration.ts";
import { hashOf } from "../base/canonical-json.ts";
import { Problem } from "../base/errors.ts";
import type { Randomness } from "../base/ids.ts";
import { streams } from "../crm/model.ts";
import type { Stream } from "../crm/model.ts";
import { createFileSource } from "./file/source.ts";
import { readTable } from "./file/table.ts";
import { createHttpSource } from "./http/source.ts";
import { readGrouped } from "./grouped.ts";
import { recordLimitsSchema } from "./limits.ts";
import { compileMapping } from "./mapping/compile.ts";
import type { MapRecord } from "./mapping/compile.ts";
import { secretPaths } from "./mapping/secrets.ts";
import type { ReadOptions, SourceItem, SourceReader, Staging } from "./reader.ts";
import type { SourceSettings } from "./source-settings.ts";

/** The compiled mapping of one stream, with its look-up tables as they are now. */
export interface StreamMapping {
  map: MapRecord;
  /** Places of a raw record that hold secrets; blank them with `blankSecrets` in everything that is kept. */
  secretPaths: readonly string[];
  /**
   * Changes when the mapping or one of its tables does: as long as it stays, a raw record that is the same maps to the
   * same.
   */
  fingerprint: string;
}

/** A configured source: one place CRM data comes from. */
export interface Source extends SourceReader {
  readonly name: string;
  /** The streams it has, in the order in which they depend on each other. */
  readonly streams: readonly Stream[];
  /**
   * Whether the source can be read: its files are there, or its service answers. Reads as little as it can and changes
   * nothing.
   */
  check(signal?: AbortSignal): Promise<Problem | undefined>;
  /** Compiles the mapping of a stream and reads its tables. Throws a Problem when a table cannot be read whole. */
  mapping(stream: Stream, signal?: AbortSignal): Promise<StreamMapping>;
  /** For a stream of which only changes can be asked for: how long that may go on until everything is read again. */
  wholeEveryMs(stream: Stream): number | undefined;
  close(): Promise<void>;
}

export interface SourceDeps {
  clock: Clock;
  random: Randomness;
  /** The secret that a reference such as `env:CRM_TOKEN` or `file:/run/secrets/crm` stands for. */
  secrets: (ref: string) => Promise<string> | string;
  staging: Staging;
  /** What relative directories are relative to: where the configuration file is. */
  baseDirectory: string;
}

/**
 * Opens a configured source. Nothing is read before the first call. Throws a Problem (`config.mapping`) for a mapping
 * that cannot be compiled.
 */
export function createSource(name: string, settings: SourceSettings, deps: SourceDeps): Source {
  const directory = settings.directory ?? ".";
  const from = isAbsolute(directory) ? directory : resolve(deps.baseDirectory, directory);
  const place = `sources.${name}`;
  const known = new Map(
    Object.keys(settings.tables).map((table): [string, ReadonlyMap<string, string>] => [table, new Map()]),
  );
  const declared = streams.filter((stream) => settings.streams[stream] !== undefined);
  const secretsOf = new Map<Stream, readonly string[]>();
  for (const stream of declared) {
    const mapping = settings.streams[stream]?.mapping ?? {};
    compileMapping(stream, mapping, { place: `${place}.streams.${stream}.mapping`, tables: known });
    secretsOf.set(stream, secretPaths(stream, mapping));
  }
  const reader = openReader(name, settings, { ...deps, directory: from });
  const readStream = groupingReader(reader, settings, deps.staging);

  return {
    name,
    streams: declared,
    async *read(stream, options) {
      const reading = readStream(stream, options);
      const hasSecrets = (secretsOf.get(stream) ?? []).length > 0;
      for (;;) {
        const next = await reading.next();
        if (next.done === true) return next.value;
        yield hasSecrets ? next.value.map(withoutText) : next.value;
      }
    },
    async check(signal) {
      return (await tablesProblem(settings, from, signal)) ?? reader.check(signal);
    },
    async mapping(stream, signal) {
      const streamSettings = settings.streams[stream];
      const mapping = streamSettings?.mapping ?? {};
      const nullTexts = streamSettings?.nullTexts ?? [];
      const tables = await readTables(settings, from, signal);
      const options = { place: `${place}.streams.${stream}.mapping`, namespace: settings.namespace, nullTexts, tables };
      return {
        map: compileMapping(stream, mapping, options),
        secretPaths: secretsOf.get(stream) ?? [],
        fingerprint: hashOf({
          mapping,
          nullTexts,
          namespace: settings.namespace,
          tables: Object.fromEntries([...tables].map(([table, entries]) => [table, Object.fromEntries(entries)])),
        }),
      };
    },
    wholeEveryMs(stream) {
      const since = settings.kind === "http" ? settings.streams[stream]?.since : undefined;
      return since === undefined ? undefined : durationMs(since.wholeEvery);
    },
    close: () => reader.close(),
  };
}

/** Reads a stream; its rows become records by their key where the settings say so. */
function groupingReader(reader: SourceReader, settings: SourceSettings, staging: Staging): SourceReader["read"] {
  return (stream, options) => {
    const { group, key, limits } = settings.streams[stream] ?? {};
    if (group === undefined || limits === undefined) return reader.read(stream, options);
    const read = (all: ReadOptions): ReturnType<SourceReader["read"]> => reader.read(stream, all);
    return readGrouped({ settings: group, rowKey: key, limits, staging, read }, options);
  };
}

type Tables = Map<string, ReadonlyMap<string, string>>;

async function readTables(settings: SourceSettings, directory: string, signal?: AbortSignal): Promise<Tables> {
  const limits = recordLimitsSchema.parse({});
  const tables: Tables = new Map();
  for (const [table, tableSettings] of Object.entries(settings.tables)) {
    tables.set(table, await readTable(table, tableSettings, { directory, limits, signal }));
  }
  return tables;
}

async function tablesProblem(
  settings: SourceSettings,
  directory: string,
  signal: AbortSignal | undefined,
): Promise<Problem | undefined> {
  try {
    await readTables(settings, directory, signal);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Problem) return thrown;
    throw thrown;
  }
}

interface ReaderOfAKind extends SourceReader {
  check(signal?: AbortSignal): Promise<Problem | undefined>;
  close(): Promise<void>;
}

function openReader(name: string, settings: SourceSettings, deps: SourceDeps & { directory: string }): ReaderOfAKind {
  switch (settings.kind) {
    case "file":
      return { ...createFileSource(settings, deps), close: () => Promise.resolve() };
    case "http":
      return createHttpSource(name, settings, deps);
  }
}

/** The raw text of a bad record could hold a secret at a place that nobody can name, since it could not be read. */
function withoutText(item: SourceItem): SourceItem {
  if (!("bad" in item) || item.bad.text === undefined) return item;
  const { text: _text, ...rest } = item.bad;
  return { bad: rest };
}
