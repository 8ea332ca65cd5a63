import { isAbsolute, resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { durationMs } from "../base/duration.ts";
import { hashOf } from "../base/canonical-json.ts";
import { Problem } from "../base/errors.ts";
import type { Randomness } from "../base/ids.ts";
import { streams } from "../crm/model.ts";
import type { Stream } from "../crm/model.ts";
import { createFileSource } from "./file/source.ts";
import type { FileItem } from "./file/row.ts";
import { readTable, tableOf } from "./file/table.ts";
import { createHttpSource } from "./http/source.ts";
import { recordLimitsSchema } from "./limits.ts";
import { compileMapping } from "./mapping/compile.ts";
import type { MapRecord } from "./mapping/compile.ts";
import { secretPaths } from "./mapping/secrets.ts";
import { createSqlSource } from "./sql/source.ts";
import type { SqlTable } from "./sql/sql-source-settings.ts";
import type { SourceItem, SourceReader, Staging } from "./reader.ts";
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
  staging: Staging;
  /** What relative directories are relative to: where the configuration file is. */
  baseDirectory: string;
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

  return {
    name,
    streams: declared,
    async *read(stream, options) {
      const reading = reader.read(stream, options);
      const hasSecrets = (secretsOf.get(stream) ?? []).length > 0;
      for (;;) {
        const next = await reading.next();
        if (next.done === true) return next.value;
        yield hasSecrets ? next.value.map(withoutText) : next.value;
      }
    },
    async check(signal) {
      try {
        return (await tablesProblem(settings, reader, from, signal)) ?? (await reader.check(signal));
      } finally {
        await reader.endReading?.();
      }
    },
    async mapping(stream, signal) {
      const streamSettings = settings.streams[stream];
      const mapping = streamSettings?.mapping ?? {};
      const nullTexts = streamSettings?.nullTexts ?? [];
      const tables = await readTables(settings, reader, from, signal);
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
      const since = settings.kind === "file" ? undefined : settings.streams[stream]?.since;
      return since === undefined ? undefined : durationMs(since.wholeEvery);
    },
    endReading: () => reader.endReading?.() ?? Promise.resolve(),
    close: () => reader.close(),
  };
}

type Tables = Map<string, ReadonlyMap<string, string>>;

async function readTables(
  settings: SourceSettings,
  reader: ReaderOfAKind,
  directory: string,
  signal?: AbortSignal,
): Promise<Tables> {
  const limits = recordLimitsSchema.parse({});
  const tables: Tables = new Map();
  for (const [table, tableSettings] of Object.entries(settings.tables)) {
    const read =
      "files" in tableSettings
        ? await readTable(table, tableSettings, { directory, limits, signal })
        : await tableOf(table, tableSettings, reader.table(table, tableSettings));
    tables.set(table, read);
  }
  return tables;
}

async function tablesProblem(
  settings: SourceSettings,
  reader: ReaderOfAKind,
  directory: string,
  signal: AbortSignal | undefined,
): Promise<Problem | undefined> {
  try {
    await readTables(settings, reader, directory, signal);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Problem) return thrown;
    throw thrown;
  }
}

interface ReaderOfAKind extends SourceReader {
  check(signal?: AbortSignal): Promise<Problem | undefined>;
  /** The rows of a look-up table that is a query; returns why they are not whole. */
  table(name: string, settings: SqlTable): AsyncGenerator<FileItem[], Problem | undefined, void>;
  endReading?(): Promise<void>;
  close(): Promise<void>;
}

/** Only a database has tables that are queries; the settings of other kinds refuse them. */
// oxlint-disable-next-line require-yield
async function* noTable(name: string): AsyncGenerator<FileItem[], Problem | undefined, void> {
  throw new TypeError(`the table ${name} is no query of this source`);
}

function openReader(name: string, settings: SourceSettings, deps: SourceDeps & { directory: string }): ReaderOfAKind {
  switch (settings.kind) {
    case "file":
      return { ...createFileSource(settings, deps), table: noTable, close: () => Promise.resolve() };
    case "http":
      return { ...createHttpSource(name, settings, deps), table: noTable };
    case "sql":
      return createSqlSource(name, settings, { ...deps, placeOf: deps.placeOf ?? ((key) => key) });
  }
}

/** The raw text of a bad record could hold a secret at a place that nobody can name, since it could not be read. */
function withoutText(item: SourceItem): SourceItem {
  if (!("bad" in item) || item.bad.text === undefined) return item;
  const { text: _text, ...rest } = item.bad;
  return { bad: rest };
}
