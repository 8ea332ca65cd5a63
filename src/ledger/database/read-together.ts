import type { LedgerContext } from "../context.ts";
import type { Sqlite } from "./database.ts";

interface Asked<Answer> {
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Answers all questions of one turn of the event loop in one reading transaction. */
export class ReadTogether<Question, Answer> {
  readonly #context: LedgerContext;
  readonly #read: (question: Question) => Answer;
  #asked: (Asked<Answer> & { question: Question })[] = [];

  constructor(context: LedgerContext, read: (question: Question) => Answer) {
    this.#context = context;
    this.#read = read;
  }

  /** Rejects if this question cannot be read; the others are still answered. */
  ask(question: Question): Promise<Answer> {
    const answered = (): Promise<Answer> =>
      new Promise((resolve, reject) => {
        if (this.#asked.push({ question, resolve, reject }) === 1) setImmediate(() => this.#answer());
      });
    return this.#context.turn(answered);
  }

  #answer(): void {
    const asked = this.#asked;
    this.#asked = [];
    try {
      this.#context.readTogether(() => {
        for (const { question, resolve, reject } of asked) {
          try {
            resolve(this.#context.read(() => this.#read(question)));
          } catch (error) {
            reject(error);
          }
        }
      });
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}

/** A fact that a writing transaction reads once. If a part of the transaction was undone, the fact is read again. */
export class PerTransaction<Fact> {
  readonly #current: () => number | undefined;
  #kept: { transaction: number; fact: Fact } | undefined;

  constructor(current: () => number | undefined) {
    this.#current = current;
  }

  get(read: () => Fact): Fact {
    const transaction = this.#current();
    if (transaction !== undefined && this.#kept?.transaction === transaction) return this.#kept.fact;
    return this.put(read());
  }

  /** For a fact that this transaction has just written. */
  put(fact: Fact): Fact {
    const transaction = this.#current();
    this.#kept = transaction === undefined ? undefined : { transaction, fact };
    return fact;
  }
}

/** The time of the first audit entry or the first run. Undefined if there is neither. */
export function ledgerBegan(database: Sqlite): string | undefined {
  const began = database
    .prepare<[], string | null>(
      `select min(at) from (select at from audit where sequence = (select min(sequence) from audit)
         union all select min(started_at) from run)`,
    )
    .pluck()
    .get();
  return began ?? undefined;
}
