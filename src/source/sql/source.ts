import { resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { durationMs } from "../../base/duration.ts";
import { Problem, problemOf } from "../../base/errors.ts";
import { streams, type Stream } from "../../crm/model.ts";
import type { OpenedReader, Staging } from "../reader.ts";
import type { SqlSourceSettings } from "../source-settings.ts";
import { databaseProblem, DatabaseFailure, type About, type Query } from "./failures.ts";
import { openPostgres } from "./postgres.ts";
import { questionOf } from "./query.ts";
import { readStream, type Asking } from "./reading.ts";
import type { Snapshot } from "./snapshot.ts";

/**
 * One view for all streams of a source, because their records refer to each other. The first read opens it; `end`
 * closes it. After a lost connection, the remaining streams wait for the next run: a later view would not match.
 */
class View {
  readonly #about: About;
  readonly #begin: () => Promise<Snapshot>;
  #open: Promise<Snapshot> | undefined;
  #lost: Problem | undefined;

  constructor(about: About, begin: () => Promise<Snapshot>) {
    this.#about = about;
    this.#begin = begin;
  }

  async open(): Promise<Snapshot> {
    if (this.#lost !== undefined) throw this.#lost;
    this.#open ??= this.#begin();
    try {
      return await this.#open;
    } catch (thrown) {
      throw this.fail(thrown, this.#about);
    }
  }

  /** After a failure of the connection the view counts as lost. */
  fail(thrown: unknown, about: About): Problem {
    const problem = thrown instanceof Problem ? thrown : databaseProblem(thrown, about);
    const kind = thrown instanceof DatabaseFailure ? thrown.failure.kind : undefined;
    if (kind === "lost" || kind === "down") this.#lost ??= problem;
    return problem;
  }

  /** Also ends a running statement. The next read opens a new view. */
  async end(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    this.#lost = undefined;
    const snapshot = await open?.catch(() => undefined);
    // Errors of a discarded view do not matter.
    await snapshot?.close().catch(() => undefined);
  }
}

interface SqlSourceDeps {
  clock: Clock;
  secrets: (ref: string) => Promise<string> | string;
  staging: Staging;
  baseDirectory: string;
  placeOf: (key: string) => string;
}

export function createSqlSource(name: string, settings: SqlSourceSettings, deps: SqlSourceDeps): OpenedReader {
  const { clock, secrets, staging, baseDirectory: directory, placeOf } = deps;
  const { connection } = settings;
  const at = `sources.${name}`;
  const about = { source: name, place: placeOf(`${at}.connection`) };
  const limits = {
    connectTimeoutMs: durationMs(settings.connectTimeout),
    statementTimeoutMs: durationMs(settings.statementTimeout),
  };
  const view = new View(about, async () =>
    connection.kind === "sqlite"
      ? (await import("./sqlite.ts")).openSqlite(resolve(directory, connection.file), limits, clock)
      : await openPostgres(connection, limits, { secrets, directory, about }),
  );
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
      question: (snapshot) => questionOf(stream, found, place, snapshot, placeOf, failed),
      failed,
    };
  };
  /** Closes a waiting connection when the read is aborted. */
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
        return problemOf(thrown);
      } finally {
        done();
        await view.end();
      }
    },
    endReading: () => view.end(),
    close: () => view.end(),
  };
}
