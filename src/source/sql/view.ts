import { Problem } from "../../base/errors.ts";
import { DatabaseFailure } from "./dialect.ts";
import type { Dialect, Snapshot } from "./dialect.ts";
import { databaseProblem } from "./failures.ts";
import type { About } from "./failures.ts";

/** A database that is open, and how its SQL is spoken. */
export interface Open {
  dialect: Dialect;
  snapshot: Snapshot;
}

/**
 * The one view that all streams of a source are read in. It is opened when something is read first and stays until
 * `end`: what one stream shows belongs to what another one shows. Once its connection is lost, what is left is not read
 * from a later view, but in the next run.
 */
export class View {
  readonly #about: About;
  readonly #dialect: () => Promise<Dialect>;
  #open: Promise<Open> | undefined;
  #lost: Problem | undefined;

  constructor(about: About, dialect: () => Promise<Dialect>) {
    this.#about = about;
    this.#dialect = dialect;
  }

  /** Opens it, or gives the one that is open. Throws a Problem. */
  async open(): Promise<Open> {
    if (this.#lost !== undefined) throw this.#lost;
    this.#open ??= this.#opened();
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
    const { snapshot } = (await open?.catch(() => undefined)) ?? {};
    // Whatever is wrong with what is let go of is nobody's concern any more.
    await snapshot?.close().catch(() => undefined);
  }

  async #opened(): Promise<Open> {
    const dialect = await this.#dialect();
    return { dialect, snapshot: await dialect.open() };
  }
}
