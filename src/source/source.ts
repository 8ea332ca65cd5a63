import { isAbsolute, resolve } from "node:path";
import { hashOf, toJson, type Json } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { durationMs } from "../base/duration.ts";
import type { Problem } from "../base/errors.ts";
import type { Randomness } from "../base/ids.ts";
import { KnownSecrets } from "../base/known-secrets.ts";
import { streams, type Stream } from "../crm/model.ts";
import { createFileSource } from "./file/source.ts";
import { readGrouped } from "./grouped.ts";
import type { SeenRequest } from "./http/request.ts";
import { createHttpSource } from "./http/source.ts";
import { compileStream, secretPaths, type GiveFields, type MapRecord, type SkipRecord } from "./mapping/compile.ts";
import type { LookupTable } from "./mapping/context.ts";
import { waysOf, type Way } from "./mapping/ways.ts";
import type { OpenedReader, ReadOptions, SourceReader, Staging } from "./reader.ts";
import { declaredTables, type SourceSettings } from "./source-settings.ts";
import { createSqlSource } from "./sql/source.ts";
import { HeldTables, tableJson } from "./table.ts";
import { mapWithoutSecrets, readWithoutSecrets, skipWithoutSecrets } from "./without-secrets.ts";

export interface StreamMapping {
  map: MapRecord;
  /** The value of each usable field, also for a record that is unusable. */
  gives: GiveFields;
  skip?: SkipRecord | undefined;
  /** Places of secrets in a raw record. Blank them with `blankSecrets` before anything is stored. */
  secretPaths: readonly string[];
  ways: () => readonly Way[];
  nullTexts: readonly string[];
  tableEntries: Readonly<Record<string, number>>;
  /** Changes with the mapping or a table. With the same fingerprint, equal raw records map to equal records. */
  fingerprint: string;
  /** Changes with everything that affects the request or the records of its rows: see `questionOf`. */
  question: string;
}

export interface Source extends SourceReader {
  readonly name: string;
  readonly streams: readonly Stream[];
  /** Time zone of times without one, if the settings name it. */
  readonly zone?: string | undefined;
  /** Reads as little as possible and changes nothing. */
  check(signal?: AbortSignal): Promise<Problem | undefined>;
  /** Throws a Problem if a look-up table is incomplete. */
  mapping(stream: Stream, signal?: AbortSignal): Promise<StreamMapping>;
  /** For incremental streams: the longest time between two full reads. */
  fullReadEveryMs(stream: Stream): number | undefined;
  /** Ends the read of streams that belong together. Releases a snapshot; the next read gets a newer one. */
  endReading(): Promise<void>;
  close(): Promise<void>;
}

export interface SourceDeps {
  clock: Clock;
  random: Randomness;
  secrets: (ref: string) => Promise<string> | string;
  /** Secrets of the whole program. Default: only those of this source. */
  known?: KnownSecrets | undefined;
  staging: Staging;
  baseDirectory: string;
  /** Called after each request to a service, with the name of the source. Never throws. */
  onRequest?: ((source: string, seen: SeenRequest) => void) | undefined;
  /** Position of a key in the configuration: `crm-sync.yaml:12:7`. Default: the key itself. */
  placeOf?: (key: string) => string;
}

/** Opens a source. Reads nothing before the first call. Throws a Problem (`config.mapping`) for a wrong mapping. */
export function createSource(name: string, settings: SourceSettings, deps: SourceDeps): Source {
  const directory = settings.directory ?? ".";
  const from = isAbsolute(directory) ? directory : resolve(deps.baseDirectory, directory);
  const place = `sources.${name}`;
  const tableNames = declaredTables(settings.tables);
  const declared = streams.filter((stream) => settings.streams[stream] !== undefined);
  const secretsOf = new Map<Stream, readonly string[]>();
  for (const stream of declared) {
    const { mapping = {}, skip } = settings.streams[stream] ?? {};
    compileStream(stream, mapping, { place: `${place}.streams.${stream}.mapping`, tables: tableNames, skip });
    secretsOf.set(stream, secretPaths(stream, mapping));
  }
  const known = deps.known ?? new KnownSecrets();
  const secrets = async (reference: string): Promise<string> => {
    const secret = await deps.secrets(reference);
    known.add(secret);
    return secret;
  };
  const reader = openReader(name, settings, { ...deps, directory: from, known, secrets });
  const tables = new HeldTables(settings.tables, from);
  const readStream = groupingReader(reader, settings, deps.staging);
  const withoutSecrets = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      throw known.problem(thrown);
    }
  };

  return {
    name,
    streams: declared,
    zone: settings.kind === "sql" ? settings.zone : undefined,
    read(stream, options) {
      tables.keep();
      const keepsText = (secretsOf.get(stream) ?? []).length === 0;
      return readWithoutSecrets((asked) => readStream(stream, asked), options, { known, keepsText });
    },
    async check(signal) {
      try {
        return await withoutSecrets(async () =>
          known.problem((await tables.problem(signal)) ?? (await reader.check(signal))),
        );
      } finally {
        await reader.endReading?.();
      }
    },
    async mapping(stream, signal) {
      const streamSettings = settings.streams[stream];
      const mapping = streamSettings?.mapping ?? {};
      const nullTexts = streamSettings?.nullTexts ?? [];
      const found = await withoutSecrets(() => tables.read(signal));
      const skip = streamSettings?.skip;
      const mappingPlace = `${place}.streams.${stream}.mapping`;
      const { namespace } = settings;
      const options = { place: mappingPlace, namespace, nullTexts, tables: found, skip };
      const fingerprint = fingerprintOf({ mapping, nullTexts, namespace, skip }, found);
      const compiled = compileStream(stream, mapping, options);
      return {
        ...compiled,
        map: mapWithoutSecrets(compiled.map, known),
        skip: compiled.skip === undefined ? undefined : skipWithoutSecrets(compiled.skip),
        secretPaths: secretsOf.get(stream) ?? [],
        ways: () => waysOf(stream, mapping, skip),
        nullTexts,
        tableEntries: Object.fromEntries([...found].map(([table, { rows }]) => [table, rows.size])),
        fingerprint,
        question: questionOf(settings, stream, fingerprint),
      };
    },
    fullReadEveryMs(stream) {
      const since = settings.kind === "file" ? undefined : settings.streams[stream]?.since;
      return since === undefined ? undefined : durationMs(since.fullReadEvery);
    },
    endReading() {
      tables.release();
      return reader.endReading?.() ?? Promise.resolve();
    },
    close: () => reader.close?.() ?? Promise.resolve(),
  };
}

function fingerprintOf(
  { skip, ...rest }: Record<"mapping" | "nullTexts" | "namespace" | "skip", Json | undefined>,
  tables: ReadonlyMap<string, LookupTable>,
): string {
  return hashOf({
    ...rest,
    tables: Object.fromEntries([...tables].map(([table, entries]) => [table, tableJson(entries)])),
    ...(skip !== undefined && { skip }),
  });
}

function groupingReader(reader: SourceReader, settings: SourceSettings, staging: Staging): SourceReader["read"] {
  return (stream, options) => {
    const { group, key, limits } = settings.streams[stream] ?? {};
    if (group === undefined || limits === undefined) return reader.read(stream, options);
    const read = (all: ReadOptions): ReturnType<SourceReader["read"]> => reader.read(stream, all);
    return readGrouped({ settings: group, rowKey: key, limits, staging, read }, options);
  };
}

function openReader(
  name: string,
  settings: SourceSettings,
  deps: SourceDeps & { directory: string; known: KnownSecrets },
): OpenedReader {
  switch (settings.kind) {
    case "file":
      return createFileSource(settings, deps);
    case "http":
      return createHttpSource(name, settings, deps);
    case "sql":
      return createSqlSource(name, settings, { ...deps, placeOf: deps.placeOf ?? ((key) => key) });
  }
}

/** Timeouts, retries and page size limits do not change the request. */
const patience = /^(?:\w+Timeout(?:Ms)?|maxPageBytes|retries|retryBaseMs|retryMaxMs)$/u;

/** While it stays the same, incremental reads miss nothing, and a cut read may resume. */
function questionOf({ streams: all, ...source }: SourceSettings, stream: Stream, mapping: string): string {
  const asked = Object.entries(source).filter(([name]) => !patience.test(name));
  return hashOf(toJson({ mapping, own: all[stream], source: Object.fromEntries(asked) }));
}
