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
 * The one view that all streams of a source are read in. It is opened when something is read first and stays until
 * `end`: what one stream shows belongs to what another one shows. Once its connection is lost, what is left is not read
 * from a later view, but in the next run.
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

  /** Opens it, or gives the one that is open. Throws a Problem. */
  async open(): Promise<Snapshot> {
    if (this.#lost !== undefined) throw this.#lost;
    this.#open ??= this.#begin();
    try {
      return await this.#open;
    } catch (thrown) {
      throw this.fail(thrown, this.#about);
    }
  }

  /** What was thrown, as a problem. A view that cannot be asked any more is lost with it. */
  fail(thrown: unknown, about: About): Problem {
    const problem = thrown instanceof Problem ? thrown : databaseProblem(thrown, about);
    const kind = thrown instanceof DatabaseFailure ? thrown.failure.kind : undefined;
    if (kind === "lost" || kind === "down") this.#lost ??= problem;
    return problem;
  }

  /** Lets go of the view, in the middle of a statement too. The next one begins anew. */
  async end(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    this.#lost = undefined;
    const snapshot = await open?.catch(() => undefined);
    // Whatever is wrong with what is let go of is nobody's concern any more.
    await snapshot?.close().catch(() => undefined);
  }
}

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
