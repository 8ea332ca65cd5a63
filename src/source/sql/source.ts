import type { Clock } from "../../base/clock.ts";
import { durationMs } from "../../base/duration.ts";
import { Problem } from "../../base/errors.ts";
import { streams, type Stream } from "../../crm/model.ts";
import type { OpenedReader, Staging } from "../reader.ts";
import type { SqlSourceSettings } from "../source-settings.ts";
import { dialectOf } from "./dialect.ts";
import { questionOf, type Query, type QueryPlaces } from "./query.ts";
import { readStream, View, type Asking } from "./reading.ts";

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
  const places: QueryPlaces = { dialect: connection.kind, placeOf };
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
    endReading: () => view.end(),
    close: () => view.end(),
  };
}
