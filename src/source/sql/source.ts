import { resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { durationMs } from "../../base/duration.ts";
import { Problem } from "../../base/errors.ts";
import { readRegular } from "../../base/regular-file.ts";
import { streams } from "../../crm/model.ts";
import type { Stream } from "../../crm/model.ts";
import { recordLimitsSchema, toItem } from "../json.ts";
import type { OpenedReader, Staging, TableRows } from "../reader.ts";
import type { SqlSourceSettings } from "../source-settings.ts";
import { dialectOf } from "./dialect.ts";
import { columnsStatement, loadQuery, queryProblem, questionOf, statementOf } from "./query.ts";
import type { Query, QueryPlaces } from "./query.ts";
import { readStream, View } from "./reading.ts";
import type { Asking, Open } from "./reading.ts";
import { columnOf } from "./sql-source-settings.ts";
import { rowReader } from "./values.ts";

interface SqlSourceDeps {
  clock: Clock;
  secrets: (ref: string) => Promise<string> | string;
  staging: Staging;
  /** Folder of the configuration file. */
  baseDirectory: string;
  /** Where a key stands in the configuration. */
  placeOf: (key: string) => string;
}

/**
 * Reads streams from queries, all of them in one view of the database.
 * In one piece: everything that it hands out shares that view.
 */
export function createSqlSource(name: string, settings: SqlSourceSettings, deps: SqlSourceDeps): OpenedReader {
  const { clock, secrets, staging, baseDirectory: directory, placeOf } = deps;
  const { connection } = settings;
  const at = `sources.${name}`;
  const about = { source: name, place: placeOf(`${at}.connection`) };
  const limits = {
    connectTimeoutMs: durationMs(settings.connectTimeout),
    statementTimeoutMs: durationMs(settings.statementTimeout),
  };
  const places: QueryPlaces = { directory, dialect: connection.kind, placeOf };
  const view = new View(about, () => dialectOf(connection, limits, { clock, secrets, directory, about }));
  const failed = (thrown: unknown, query: Query): Problem => view.fail(thrown, { ...about, query });
  const asking = (stream: Stream): Asking | undefined => {
    const found = settings.streams[stream];
    const place = `${at}.streams.${stream}`;
    if (found === undefined) return undefined;
    return {
      name: `${name}/${stream}`,
      settings: found,
      zone: settings.zone,
      staging,
      open: () => view.open(),
      question: (open) => questionOf(stream, found, place, open, places, failed),
      failed,
    };
  };
  /** A connection that waits for an answer is ended when the reading is to stop. */
  const endOn = (signal: AbortSignal | undefined): (() => void) => {
    const stop = (): void => void view.end();
    signal?.addEventListener("abort", stop, { once: true });
    return () => signal?.removeEventListener("abort", stop);
  };

  return {
    async *read(stream, options) {
      const asked = asking(stream);
      if (asked === undefined) return { complete: true, full: true, rows: 0 };
      options.signal?.throwIfAborted();
      const done = endOn(options.signal);
      try {
        return yield* readStream(asked, options);
      } catch (thrown) {
        options.signal?.throwIfAborted();
        throw thrown;
      } finally {
        done();
      }
    },
    async check(signal) {
      const done = endOn(signal);
      try {
        for (const stream of streams) {
          const asked = asking(stream);
          if (asked !== undefined) await asked.question(await view.open());
        }
        return undefined;
      } catch (thrown) {
        signal?.throwIfAborted();
        if (thrown instanceof Problem) return thrown;
        throw thrown;
      } finally {
        done();
        await view.end();
      }
    },
    async *queries(table, declared) {
      const place = `${at}.tables.${table}`;
      try {
        const query = loadQuery(declared, place, places);
        const paths = [declared.key, declared.value, ...Object.values(declared.columns ?? {})];
        const read = paths.filter((path) => path !== undefined);
        return yield* tableRows(query, read, await view.open(), failed);
      } catch (thrown) {
        if (thrown instanceof Problem) return thrown;
        throw thrown;
      }
    },
    queryFiles: () => queryFiles(settings, directory),
    endReading: () => view.end(),
    close: () => view.end(),
  };
}

/**
 * What stands in the files of a source's queries, by their names: another text is another question. A file that cannot
 * be read holds nothing here; the reading itself says why.
 */
function queryFiles({ streams }: Pick<SqlSourceSettings, "streams">, directory: string): Record<string, string> {
  const parts = Object.values(streams).flatMap((stream) =>
    stream === undefined ? [] : [stream, ...Object.values(stream.details ?? {})],
  );
  const names = new Set(parts.flatMap(({ queryFile }) => queryFile ?? []));
  return Object.fromEntries([...names].sort().map((name) => [name, textOf(resolve(directory, name))]));
}

function textOf(file: string): string {
  try {
    return readRegular(file).toString("utf8");
  } catch {
    return "";
  }
}

/** Rows that are taken at a time. */
const page = 1_000;

/** The rows of a look-up table that is a query; returns why they are not whole. */
async function* tableRows(
  query: Query,
  paths: readonly string[],
  { dialect, snapshot }: Open,
  failed: (thrown: unknown, query: Query) => Problem,
): TableRows {
  try {
    const columns = await snapshot.columns(columnsStatement(query));
    for (const path of paths) {
      const name = columnOf(path);
      if (name !== undefined && !columns.some((column) => column.name === name))
        return queryProblem(
          query,
          undefined,
          `gives no column ${name}`,
          "Correct the name, or have the query give it.",
        );
    }
    const read = rowReader(columns, { zone: undefined, limits: recordLimitsSchema.parse({}), json: new Set() });
    let count = 0;
    for await (const rows of snapshot.rows(statementOf(query, {}, dialect), columns, page)) {
      yield rows.map((cells) => {
        count += 1;
        const item = read(cells, `${query.settings}, row ${count}`);
        return "bad" in item ? item : toItem(item.row, undefined);
      });
    }
    return undefined;
  } catch (thrown) {
    return failed(thrown, query);
  }
}
