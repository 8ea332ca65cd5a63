import { Observers } from "../base/observers.ts";
import type { SeenCall } from "../http/conclusion.ts";
import type { LedgerObserver } from "../ledger/observer.ts";
import type { SeenRequest } from "../source/http/request.ts";

/** An operation that came to a state. */
export type Conclusion = Parameters<LedgerObserver["concluded"]>[0];
/** A request to the service of a source. */
export type SourceRequest = SeenRequest & { source: string };

/** What can be observed of a program that runs. Everything is told once it is so; nothing of it is private. */
export interface Observed {
  /** Calls of the two services, each repetition by itself. */
  readonly calls: Observers<SeenCall>;
  /** Requests to the services of sources. */
  readonly requests: Observers<SourceRequest>;
  /** Milliseconds that a commit of the ledger took. */
  readonly commits: Observers<number>;
  readonly conclusions: Observers<Conclusion>;
}

/** `failed` is told of what a listener threw; whatever is observed goes on. */
export function createObserved(failed: (error: unknown) => void): Observed {
  return {
    calls: new Observers(failed),
    requests: new Observers(failed),
    commits: new Observers(failed),
    conclusions: new Observers(failed),
  };
}
