import type { Clock } from "../base/clock.ts";
import { Refusal } from "./answers.ts";
import type { Store } from "./store.ts";

export type DeferredKind = "call" | "orders";

/** Work that is to be done later whatever happens to this process in between. */
export interface Deferred {
  /** Notes the work with the surrounding transaction, and does it after `delayMs`. */
  add(kind: DeferredKind, payload: string, delayMs: number): void;
  /** Takes up what a former process left. */
  resume(): void;
  /** Stops waiting; what is noted stays noted. */
  stop(): void;
}

/**
 * `work` runs in the transaction that takes the note away. A Refusal from it is final: the work is given up and
 * `refused` is told.
 */
export function createDeferred(
  store: Store,
  clock: Clock,
  work: (kind: DeferredKind, payload: string) => void,
  refused: (kind: DeferredKind, payload: string) => void,
): Deferred {
  const insert = store.prepare<[number, string, string]>(
    "INSERT INTO deferred (due_at, kind, payload) VALUES (?, ?, ?)",
  );
  const find = store.prepare<[number], { kind: DeferredKind; payload: string }>(
    "SELECT kind, payload FROM deferred WHERE id = ?",
  );
  const findAll = store.prepare<[], { id: number; due_at: number }>(
    "SELECT id, due_at FROM deferred ORDER BY due_at, id",
  );
  const remove = store.prepare<[number]>("DELETE FROM deferred WHERE id = ?");
  let waiting = new AbortController();

  function workOff(id: number): void {
    const row = find.get(id);
    if (row === undefined) return;
    try {
      store.transaction(() => {
        remove.run(id);
        work(row.kind, row.payload);
      })();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      store.transaction(() => {
        remove.run(id);
        refused(row.kind, row.payload);
      })();
    }
  }

  function wait(id: number, delayMs: number): void {
    const { signal } = waiting;
    clock.sleep(delayMs, signal).then(
      () => {
        if (!signal.aborted) workOff(id);
      },
      () => undefined,
    );
  }

  return {
    add(kind, payload, delayMs) {
      wait(Number(insert.run(clock.now() + delayMs, kind, payload).lastInsertRowid), delayMs);
    },
    resume() {
      for (const row of findAll.all()) wait(row.id, Math.max(0, row.due_at - clock.now()));
    },
    stop() {
      waiting.abort();
      waiting = new AbortController();
    },
  };
}
