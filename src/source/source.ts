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

/** The compiled mapping of one stream, with its look-up tables as they are now. */
export interface StreamMapping {
  map: MapRecord;
  /** What each field gives where it can be used, also of a record that cannot. */
  gives: GiveFields;
  /** Whether a raw record is left out; undefined where the stream leaves none out. */
  skip?: SkipRecord | undefined;
  /** Places of a raw record that hold secrets; blank them with `blankSecrets` in everything that is kept. */
  secretPaths: readonly string[];
  /** How each target field comes to its value. */
  ways: () => readonly Way[];
  /** Texts that stand for nothing. */
  nullTexts: readonly string[];
  /** How many entries each look-up table of its source has. */
  tableEntries: Readonly<Record<string, number>>;
  /**
   * Changes when the mapping or one of its tables does: as long as it stays, a raw record that is the same maps to the
   * same.
   */
  fingerprint: string;
  /** Changes when anything does that says what is asked for, or what becomes of it: see `questionOf`. */
  question: string;
}

/** A configured source: one place CRM data comes from. */
export interface Source extends SourceReader {
  readonly name: string;
  /** The streams it has, in the order in which they depend on each other. */
  readonly streams: readonly Stream[];
  /** The zone of its times that say none, where the settings name it. */
  readonly zone?: string | undefined;
  /**
   * Whether the source can be read: its files are there, or its service answers. Reads as little as it can and changes
   * nothing.
   */
  check(signal?: AbortSignal): Promise<Problem | undefined>;
  /** Compiles the mapping of a stream and reads its tables. Throws a Problem when a table cannot be read whole. */
  mapping(stream: Stream, signal?: AbortSignal): Promise<StreamMapping>;
  /** For a stream of which only changes can be asked for: how long that may go on until everything is read again. */
  fullReadEveryMs(stream: Stream): number | undefined;
  /**
   * Its streams were read that belong together. A source that shows them as of one moment lets go of it; what is read
   * next is read as of a later one.
   */
  endReading(): Promise<void>;
  close(): Promise<void>;
}

export interface SourceDeps {
  clock: Clock;
  random: Randomness;
  /** The secret that a reference such as `env:CRM_TOKEN` or `file:/run/secrets/crm` stands for. */
  secrets: (ref: string) => Promise<string> | string;
  /** Those of the whole program; by default, those of this source alone. */
  known?: KnownSecrets | undefined;
  staging: Staging;
  /** What relative directories are relative to: where the configuration file is. */
  baseDirectory: string;
  /** Told of each request to a service that ended, with the name of the source. It never throws. */
  onRequest?: ((source: string, seen: SeenRequest) => void) | undefined;
  /** Where a key stands in the configuration: `crm-sync.yaml:12:7`. By default, the key itself. */
  placeOf?: (key: string) => string;
}

/**
 * Opens a configured source. Nothing is read before the first call. Throws a Problem (`config.mapping`) for a mapping
 * that cannot be compiled.
 */
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

/** Changes when one of these does, or a table: see `StreamMapping`. */
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

/** Reads a stream; its rows become records by their key where the settings say so. */
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

/** How long something is waited for and how often it is tried says nothing of what is asked for. */
const patience = /^(?:\w+Timeout(?:Ms)?|maxPageBytes|retries|retryBaseMs|retryMaxMs)$/u;

/**
 * The fingerprint of the question that a stream asks its source: every setting of the stream and of its source, and
 * what its tables hold. As long as it stays, a reading of changes has missed nothing, and one that was cut may go on.
 */
function questionOf({ streams: all, ...source }: SourceSettings, stream: Stream, mapping: string): string {
  const asked = Object.entries(source).filter(([name]) => !patience.test(name));
  return hashOf(toJson({ mapping, own: all[stream], source: Object.fromEntries(asked) }));
}
